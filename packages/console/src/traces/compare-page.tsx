// Two traces side by side: the steps that correspond, their times and tokens, and what is different in their inputs and outputs.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { PlatformClient, RunTree } from '@svc/sdk';
import { useMemo, type ReactNode } from 'react';
import { KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { TraceBadge } from '../ui/badge.tsx';
import { duration } from '../ui/duration.ts';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { costOf, tokensOf } from '../ui/token-text.ts';
import { OtherTrace } from './other-trace.tsx';
import { PairList, spansOf, type PairedTraces } from './pair-list.tsx';
import { PairPanel } from './pair-panel.tsx';
import { withForm } from './payload-view.tsx';
import { pairSpans } from './span-pairs.ts';
import { toSpanTable, type SpanTable } from './span-table.ts';
import { traceNeed, useTrace } from './trace-queries.ts';
import './traces.css';

const route = getRouteApi('/traces/compare');

export const ComparePage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>{(client) => <Comparison client={client} />}</KeyGate>
  </div>
);

const Comparison = ({ client }: { client: PlatformClient }): ReactNode => {
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
  return right === undefined ? (
    <OneTrace client={client} left={left} />
  ) : (
    <TwoTraces client={client} left={left} right={right} />
  );
};

const OneTrace = ({ client, left }: { client: PlatformClient; left: string }): ReactNode => {
  const query = useTrace(client, left);
  if (needsOtherKey(query.error)) return <KeyForm need={traceNeed} refusal={query.error} />;
  return (
    <>
      <header className="page-head">
        <h1>Compare a trace</h1>
      </header>
      <Loaded query={query}>
        {({ runs }) => (
          <OtherTrace client={client} left={left} name={(runs[0] as { name?: string })?.name ?? ''} />
        )}
      </Loaded>
    </>
  );
};

const TwoTraces = ({
  client,
  left,
  right,
}: {
  client: PlatformClient;
  left: string;
  right: string;
}): ReactNode => {
  const [before, after] = [useTrace(client, left), useTrace(client, right)];
  const refusal = before.error ?? after.error;
  if (needsOtherKey(refusal)) return <KeyForm need={traceNeed} refusal={refusal} />;
  return (
    <Loaded query={before}>
      {(from) => <Loaded query={after}>{(to) => <Paired client={client} left={from} right={to} />}</Loaded>}
    </Loaded>
  );
};

const Paired = ({
  client,
  left,
  right,
}: {
  client: PlatformClient;
  left: RunTree;
  right: RunTree;
}): ReactNode => {
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
          client={client}
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
