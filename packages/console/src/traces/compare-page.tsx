// Two traces side by side: the steps that correspond, their times and tokens, and what is different in their inputs and outputs.
import type { RunTree } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { TraceBadge } from '../ui/badge.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { type PairedTraces, PairList, spansOf } from './pair-list.tsx';
import { PairPanel } from './pair-panel.tsx';
import { withForm } from './payload-view.tsx';
import { pairSpans } from './span-pairs.ts';
import { type SpanTable, toSpanTable } from './span-table.ts';
import { traceNeed, useLikeTraces, useTrace } from './trace-queries.ts';
import { traceColumns } from './trace-table.tsx';
import './traces.css';

const route = getRouteApi('/traces/compare');

export const ComparePage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>
      <Comparison />
    </KeyGate>
  </div>
);

const Comparison = (): ReactNode => {
  const { left, right } = route.useSearch();
  if (left === undefined)
    return (
      <State icon="empty" title="Which traces?">
        <p className="muted">Open a trace, and choose Compare there.</p>
        <Link to="/traces" className="button">
          All traces
        </Link>
      </State>
    );
  return right === undefined ? <OneTrace left={left} /> : <TwoTraces left={left} right={right} />;
};

const OneTrace = ({ left }: { left: string }): ReactNode => {
  const query = useTrace(left);
  if (needsOtherKey(query.error)) return <KeyForm need={traceNeed} refusal={query.error} />;
  return (
    <>
      <header className="page-head">
        <h1>Compare a trace</h1>
      </header>
      <Loaded query={query}>
        {({ runs }) => <OtherTrace left={left} name={(runs[0] as { name?: string })?.name ?? ''} />}
      </Loaded>
    </>
  );
};

const TwoTraces = ({ left, right }: { left: string; right: string }): ReactNode => {
  const [before, after] = [useTrace(left), useTrace(right)];
  const refusal = before.error ?? after.error;
  if (needsOtherKey(refusal)) return <KeyForm need={traceNeed} refusal={refusal} />;
  return (
    <Loaded query={before}>
      {(from) => <Loaded query={after}>{(to) => <Paired left={from} right={to} />}</Loaded>}
    </Loaded>
  );
};

const Paired = ({ left, right }: { left: RunTree; right: RunTree }): ReactNode => {
  const { sel, payload } = route.useSearch();
  const navigate = route.useNavigate();
  const traces = useMemo((): PairedTraces => {
    const [before, after] = [toSpanTable(left, Date.now()), toSpanTable(right, Date.now())];
    return { left: before, right: after, pairs: pairSpans(before, after) };
  }, [left, right]);
  const selected = useMemo(() => {
    const isSelected = (pair: PairedTraces['pairs'][number]): boolean =>
      Object.values(spansOf(traces, pair)).some((span) => span?.run.id === sel);
    return sel === undefined ? 0 : Math.max(0, traces.pairs.findIndex(isSelected));
  }, [traces, sel]);
  const shown = spansOf(traces, traces.pairs[selected]);
  const select = (row: number): void => {
    const { left: before, right: after } = spansOf(traces, traces.pairs[row]);
    void navigate({
      search: (search) => ({ ...search, sel: row === 0 ? undefined : (before ?? after)?.run.id }),
      replace: true,
    });
  };
  return (
    <>
      <header className="page-head pair-head">
        <h1>Two traces</h1>
        <TraceFacts side="Left" id={left.trace_id} table={traces.left} />
        <TraceFacts side="Right" id={right.trace_id} table={traces.right} />
        <div className="page-actions">
          <Link
            className="button"
            to="/traces/compare"
            search={{ left: right.trace_id, right: left.trace_id }}
          >
            Swap
          </Link>
          <Link className="button" to="/traces/compare" search={{ left: left.trace_id }}>
            Another
          </Link>
        </div>
      </header>
      <div className="trace">
        <PairList traces={traces} selected={selected} onSelect={select} />
        <PairPanel
          left={shown.left?.run}
          right={shown.right?.run}
          form={payload ?? 'rendered'}
          onForm={(form) => void navigate({ search: (search) => withForm(search, form), replace: true })}
        />
      </div>
    </>
  );
};

const TraceFacts = ({ side, id, table }: { side: string; id: string; table: SpanTable }): ReactNode => {
  const root = table.spans[0]?.run;
  if (root === undefined) return null;
  return (
    <span className="row">
      <span className="muted">{side}</span>
      <Link to="/traces/$traceId" params={{ traceId: id }}>
        {visibleText(root.name.slice(0, 60))} <span className="mono">{id.slice(0, 8)}</span>
      </Link>
      <TraceBadge of={root} />
      <span className="muted">
        {[
          duration(table.endMs - table.startMs),
          root.total_tokens !== null && `${tokensOf(root.total_tokens)} tokens`,
          costOf(root.total_cost),
        ]
          .filter((text) => typeof text === 'string' && text !== '')
          .join(' · ')}
      </span>
    </span>
  );
};

// Chooses the trace that another one is compared with.
const OtherTrace = ({
  left,
  name,
}: {
  left: string;
  /** Of the root of the trace. */
  name: string;
}): ReactNode => {
  const query = useLikeTraces(left, name);
  return (
    <div className="page-body" tabIndex={0} role="region" aria-label="Traces to compare with">
      <Loaded query={query}>
        {(runs) => (
          <DataTable
            rows={runs}
            columns={[
              traceColumns.status,
              {
                name: 'Compare with',
                cell: (run) => (
                  <Link to="/traces/compare" search={{ left, right: run.trace_id }} data-row>
                    {visibleText(run.name.slice(0, 80))}{' '}
                    <span className="mono">{run.trace_id.slice(0, 8)}</span>
                  </Link>
                ),
              },
              traceColumns.took,
              traceColumns.started,
            ]}
            keyOf={({ id }) => id}
            empty={
              <State icon="empty" title="There is no trace to compare with">
                <p className="muted">
                  No other trace of the project has a root with the name {visibleText(name)}.
                </p>
              </State>
            }
          />
        )}
      </Loaded>
    </div>
  );
};
