// One thread: what its traces add up to, and the traces in their order.
import type { TraceThread } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { KeyForm, needsOtherKey } from '../platform/key-gate.tsx';
import { CopyId } from '../ui/copy.tsx';
import { duration } from '../ui/duration.ts';
import { costOf, countOf, countText, tokensOf } from '../ui/number-text.ts';
import { Fact } from '../ui/panel.tsx';
import { State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { traceNeed } from './trace-queries.ts';
import { TraceTable } from './trace-table.tsx';
import {
  shortThreadId,
  threadFilter,
  useHasThread,
  useTracesOfThread,
  useTraceThread,
} from './trace-thread-queries.ts';
import './traces.css';

interface ThreadProps {
  project: string;
  threadId: string;
}

export const TraceThreadView = ({ project, threadId }: ThreadProps): ReactNode => {
  const sums = useTraceThread(project, threadId);
  const traces = useTracesOfThread(project, threadId);
  const refusal = traces.error ?? sums.error;
  if (needsOtherKey(refusal)) return <KeyForm need={traceNeed} refusal={refusal} />;
  return (
    <>
      <header className="page-head">
        <h1>Traces of a thread</h1>
        <CopyId id={threadId} label="thread id" shown={shortThreadId(threadId)} />
        <ThreadLinks project={project} threadId={threadId} />
      </header>
      <div className="page-body" tabIndex={0} role="region" aria-label="Traces of the thread">
        {sums.data && <ThreadFacts thread={sums.data} />}
        <TraceTable
          query={traces}
          label={(count) => `${countText(count, 'trace')}, oldest first`}
          empty={<NoTraces project={project} threadId={threadId} />}
          more="Load later traces"
        />
      </div>
    </>
  );
};

const ThreadLinks = ({ project, threadId }: ThreadProps): ReactNode => (
  <div className="page-actions">
    <Link className="button" to="/traces" search={{ view: 'threads', project }}>
      All threads
    </Link>
    <Link className="button" to="/traces" search={traceRunsOf(project, threadId)}>
      All trace runs of the thread
    </Link>
    {useHasThread(threadId) && (
      <Link className="button" to="/threads/$threadId" params={{ threadId }}>
        Open the thread
      </Link>
    )}
  </div>
);

const traceRunsOf = (project: string, threadId: string) =>
  ({ project, runs: 'all', filter: threadFilter(threadId) }) as const;

const ThreadFacts = ({ thread }: { thread: TraceThread }): ReactNode => {
  const { count, num_errored_turns: failed, latency_p50: p50, latency_p99: p99 } = thread;
  const { runs_without_thread_id: lacking } = thread;
  return (
    <div className="pad stack">
      <dl className="facts">
        <Fact name="Traces" value={`${countOf(count)}${failed > 0 ? `, ${countOf(failed)} failed` : ''}`} />
        <Fact name="Trace runs" value={countOf(thread.run_count)} />
        <Fact name="Tokens" value={thread.total_tokens > 0 && tokensOf(thread.total_tokens)} />
        <Fact name="Cost" value={thread.total_cost !== null && costOf(thread.total_cost)} />
        <Fact
          name="Latency"
          value={p50 !== null && `p50 ${seconds(p50)}${p99 === null ? '' : `, p99 ${seconds(p99)}`}`}
        />
        <Fact name="First input" value={thread.first_inputs !== null && visibleText(thread.first_inputs)} />
        <Fact name="Last output" value={thread.last_outputs !== null && visibleText(thread.last_outputs)} />
        <Fact name="Last error" value={thread.last_error !== null && visibleText(thread.last_error)} />
        <Fact name="Started">
          first <Ago at={thread.min_start_time} />, last <Ago at={thread.max_start_time} />
        </Fact>
      </dl>
      {lacking > 0 && (
        <p className="notice" data-tone="amber">
          {countText(lacking, 'trace run')} without a thread id: tokens and costs of these are not counted
          here.
        </p>
      )}
    </div>
  );
};

const seconds = (value: number): string => duration(value * 1_000);

const NoTraces = ({ project, threadId }: ThreadProps): ReactNode => (
  <State icon="empty" title="No root of a trace names this thread">
    <p className="muted">Trace runs below the root may name it.</p>
    <Link className="button" to="/traces" search={traceRunsOf(project, threadId)}>
      All trace runs of the thread
    </Link>
  </State>
);
