import type { ApiError } from '@svc/sdk';
import { type ReactNode, useEffect, useState } from 'react';
import { ProjectSelect } from '../platform/projects.tsx';
import { TimeSelect } from '../plots/time-select.tsx';
import { ChoiceChips } from '../ui/filters.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import type { TraceFilter } from './trace-queries.ts';
import { chartSpan } from './trace-time.ts';
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
  search,
  rejected,
  onChange,
}: FilterProps & { rejected: ApiError | undefined }): ReactNode => (
  <div className="filters" role="search" aria-label="Filter of traces">
    <ProjectSelect project={search.project} onChange={(project) => onChange({ project })} />
    <ChoiceChips
      label="Which trace runs"
      choices={[
        ['traces', 'traces'],
        ['all', 'all trace runs'],
      ]}
      chosen={search.runs ?? 'traces'}
      onChange={(runs) => onChange({ runs: runs === 'all' ? runs : undefined })}
    />
    {/* Charts always have a span. */}
    <TimeSelect
      label="Started"
      hasAnyTime={search.view !== 'charts'}
      time={search.view === 'charts' ? { ...search, since: search.since ?? chartSpan } : search}
      onChange={onChange}
    />
    <FilterField filter={search.filter} rejected={rejected} onChange={(filter) => onChange({ filter })} />
  </div>
);

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
