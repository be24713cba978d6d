import type { ApiError, PlatformClient } from '@svc/sdk';
import { useEffect, useState, type ReactNode } from 'react';
import { ProjectSelect } from '../platform/project-select.tsx';
import { rangeText } from '../plots/range-text.ts';
import { ErrorNotice } from '../ui/states.tsx';
import type { TraceFilter } from './trace-queries.ts';
import { chartSpan, spanMs } from './trace-time.ts';
import './traces.css';

/** What the address contains. */
export interface TraceSearch extends TraceFilter {
  view?: 'threads' | 'charts' | undefined;
}

interface FilterProps {
  search: TraceSearch;
  onChange: (changed: TraceFilter) => void;
}

export const TraceFilters = ({
  client,
  search,
  rejected,
  onChange,
}: FilterProps & { client: PlatformClient; rejected: ApiError | undefined }): ReactNode => (
  <div className="filters" role="search" aria-label="Filter of traces">
    <ProjectSelect client={client} project={search.project} onChange={(project) => onChange({ project })} />
    <div className="chips" role="group" aria-label="Which trace runs">
      <button
        type="button"
        className="chip"
        aria-pressed={search.runs === undefined}
        onClick={() => onChange({ runs: undefined })}
      >
        traces
      </button>
      <button
        type="button"
        className="chip"
        aria-pressed={search.runs === 'all'}
        onClick={() => onChange({ runs: 'all' })}
      >
        all trace runs
      </button>
    </div>
    <StartedSelect search={search} onChange={onChange} />
    <FilterField filter={search.filter} rejected={rejected} onChange={(filter) => onChange({ filter })} />
  </div>
);

/** A range of the address, which a chart leads to, is one of the options. Charts always have a span. */
const StartedSelect = ({ search: { since, from, to, view }, onChange }: FilterProps): ReactNode => {
  const range = rangeText(from, to);
  const anyTime = view === 'charts' ? chartSpan : '';
  return (
    <select
      className="field"
      aria-label="Started"
      value={range === undefined ? (since ?? anyTime) : 'range'}
      onChange={(event) =>
        onChange({
          since: (event.target.value || undefined) as TraceFilter['since'],
          from: undefined,
          to: undefined,
        })
      }
    >
      {range !== undefined && <option value="range">{range}</option>}
      {anyTime === '' && <option value="">Any time</option>}
      {Object.keys(spanMs).map((span) => (
        <option key={span} value={span}>
          Last {span}
        </option>
      ))}
    </select>
  );
};

/** The filter as a text. The server parses it, and its error names the position. */
const FilterField = ({
  filter,
  rejected,
  onChange,
}: {
  filter: string | undefined;
  rejected: ApiError | undefined;
  onChange: (filter: string | undefined) => void;
}): ReactNode => {
  const [text, setText] = useState(filter ?? '');
  useEffect(() => setText(filter ?? ''), [filter]);
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim() || undefined);
      }}
    >
      <input
        className="field mono filter-text"
        data-filter
        aria-label="Filter"
        placeholder='and(gt(latency, "5s"), neq(error, null))'
        spellCheck={false}
        value={text}
        aria-invalid={rejected !== undefined}
        aria-describedby={rejected && 'filter-problem'}
        onChange={(event) => setText(event.target.value)}
      />
      {rejected && (
        <div id="filter-problem">
          <ErrorNotice error={rejected} />
        </div>
      )}
    </form>
  );
};
