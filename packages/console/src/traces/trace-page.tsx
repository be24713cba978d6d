// A trace as a tree beside a waterfall, and the span that is selected in it.
import type { ApiError, RunTree } from '@svc/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { KeyForm, KeyGate, needsOtherKey } from '../platform/key-gate.tsx';
import { TraceBadge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy.tsx';
import { duration } from '../ui/duration.ts';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { Loaded, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { withForm } from './payload-view.tsx';
import { SpanPanel } from './span-panel.tsx';
import { toSpanTable } from './span-table.ts';
import { SpanTree } from './span-tree.tsx';
import { traceNeed, useOrigin, useSpan, useTrace } from './trace-queries.ts';
import './traces.css';

const route = getRouteApi('/traces/$traceId');

export const TracePage = (): ReactNode => (
  <div className="page">
    <KeyGate need={traceNeed}>
      <Trace />
    </KeyGate>
  </div>
);

const Trace = (): ReactNode => {
  const { traceId } = route.useParams();
  const query = useTrace(traceId);
  if (needsOtherKey(query.error)) return <KeyForm need={traceNeed} refusal={query.error} />;
  if (query.data === undefined && (query.error as ApiError | null)?.status === 404) return <NoTrace />;
  return <Loaded query={query}>{(tree) => <TraceView tree={tree} />}</Loaded>;
};

const NoTrace = (): ReactNode => (
  <State icon="empty" title="There is no such trace">
    <p className="muted">
      The workspace of the API key has no trace with this id. Runs of this server have traces with{' '}
      <code>svc dev</code>, and with <code>SVC_TRACING=on svc start</code>; a trace is stored a moment after
      its run.
    </p>
    <Link to="/traces" className="button">
      All traces
    </Link>
  </State>
);

const TraceView = ({ tree }: { tree: RunTree }): ReactNode => {
  const { sel, q, payload } = route.useSearch();
  const navigate = route.useNavigate();
  const table = useMemo(() => toSpanTable(tree, Date.now()), [tree]);
  const root = table.spans[0]?.run;
  const selected = useMemo(
    () => Math.max(0, sel === undefined ? 0 : table.spans.findIndex(({ run }) => run.id === sel)),
    [table, sel],
  );
  if (root === undefined) return <NoTrace />;
  const span = table.spans[selected]?.run ?? root;
  const { tokens, cost } = table.spans[0] ?? {};
  return (
    <>
      <header className="page-head">
        <h1>{visibleText(root.name.slice(0, 120))}</h1>
        <CopyId id={tree.trace_id} label="trace id" />
        <TraceBadge of={root} />
        <span className="muted">
          {[
            duration(table.endMs - table.startMs),
            typeof tokens === 'number' && `${tokensOf(tokens)} tokens`,
            costOf(cost?.toString()),
            `${tokensOf(tree.run_count)} ${tree.run_count === 1 ? 'span' : 'spans'}`,
          ]
            .filter((text) => typeof text === 'string' && text !== '')
            .join(' · ')}
        </span>
        <OriginLinks traceId={tree.trace_id} rootId={root.id} isOpen={root.status === 'pending'} />
      </header>
      {!tree.is_whole && (
        <p className="notice trace-notice" data-tone="amber">
          The trace has more spans than one response contains. The first {tokensOf(tree.run_count)} are shown.
        </p>
      )}
      <div className="trace">
        <SpanTree
          table={table}
          selected={selected}
          text={q ?? ''}
          onSelect={(id) =>
            void navigate({
              search: (search) => ({ ...search, sel: id === root.id ? undefined : id }),
              replace: true,
            })
          }
          onText={(text) =>
            void navigate({ search: (search) => ({ ...search, q: text || undefined }), replace: true })
          }
        />
        <SpanPanel
          key={span.id}
          span={span}
          sums={table.spans[selected]}
          form={payload ?? 'rendered'}
          onForm={(form) => void navigate({ search: (search) => withForm(search, form), replace: true })}
        />
      </div>
    </>
  );
};

/** Links to the comparison, and to the run and the thread of the trace, where this server has them. */
const OriginLinks = ({
  traceId,
  rootId,
  isOpen,
}: {
  traceId: string;
  rootId: string;
  isOpen: boolean;
}): ReactNode => {
  const root = useSpan(rootId, { isOpen });
  const origin = useOrigin(root.data);
  const { session_id: project, thread_id: threadId } = root.data ?? {};
  return (
    <div className="page-actions">
      <Link className="button" to="/traces/compare" search={{ left: traceId }}>
        Compare
      </Link>
      {project && threadId && (
        <Link
          className="button"
          to="/traces"
          search={{ view: 'threads', project, thread: threadId }}
          title={`Thread ${threadId}`}
        >
          Traces of the thread
        </Link>
      )}
      {origin?.runId !== undefined && (
        <Link
          className="button"
          to="/runs/$runId"
          params={{ runId: origin.runId }}
          search={{ thread: origin.threadId }}
        >
          Open the run
        </Link>
      )}
      {origin && (
        <Link className="button" to="/threads/$threadId" params={{ threadId: origin.threadId }}>
          Open the thread
        </Link>
      )}
    </div>
  );
};
