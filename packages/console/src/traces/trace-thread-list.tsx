// The threads of a project, those with the newest trace runs first.
import { Link, useNavigate } from '@tanstack/react-router';
import type { TraceThread } from '@svc/sdk';
import type { ReactNode } from 'react';
import { duration } from '../ui/duration.ts';
import { LoadOlder } from '../ui/paging.tsx';
import { Failure, Skeleton, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../values/visible-text.ts';
import { costOf, tokensOf } from '../ui/token-text.ts';
import { shortThreadId } from './short-thread-id.ts';
import type { ThreadFilter, useTraceThreads } from './trace-thread-queries.ts';

const previewMax = 200;

export const TraceThreadList = ({
  query,
  filter,
}: {
  query: ReturnType<typeof useTraceThreads>;
  filter: ThreadFilter;
}): ReactNode => {
  if (query.data === undefined)
    return query.error ? (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton rows={12} />
    );
  const threads = query.data.pages.flatMap(({ items }) => items);
  const notice = query.data.pages.at(-1)?.notice;
  if (threads.length === 0 && !query.hasNextPage) return <NoThreads filter={filter} />;
  return (
    <>
      {threads.length > 0 && <ThreadTable threads={threads} project={filter.project} />}
      {typeof notice === 'string' && (
        <p className="notice" data-tone="amber">
          {notice}
        </p>
      )}
      <LoadOlder query={query} label="Load older threads" />
    </>
  );
};

const NoThreads = ({ filter }: { filter: ThreadFilter }): ReactNode =>
  [filter.filter, filter.since, filter.from, filter.to].some((value) => value !== undefined) ? (
    <State icon="empty" title="No thread matches the filter">
      <Link to="/traces" search={{ view: 'threads', project: filter.project }} className="button">
        Clear the filter
      </Link>
    </State>
  ) : (
    <State icon="empty" title="The project has no threads">
      <p className="muted">
        A trace run belongs to the thread that its metadata names: in <code>session_id</code>, else{' '}
        <code>conversation_id</code>, else <code>thread_id</code>. Runs of this server name their thread.
      </p>
    </State>
  );

const ThreadTable = ({
  threads,
  project,
}: {
  threads: readonly TraceThread[];
  project: string;
}): ReactNode => (
  <table className="table">
    <thead>
      <tr>
        <th scope="col">Thread</th>
        <th scope="col">Conversation</th>
        <th scope="col" className="number">
          Traces
        </th>
        <th scope="col" className="number optional">
          Tokens
        </th>
        <th scope="col" className="number optional">
          Cost
        </th>
        <th scope="col" className="number optional">
          Latency p50
        </th>
        <th scope="col" className="number optional">
          First
        </th>
        <th scope="col" className="number">
          Last
        </th>
      </tr>
    </thead>
    <tbody>
      {threads.map((thread) => (
        <ThreadRow key={thread.thread_id} thread={thread} project={project} />
      ))}
    </tbody>
  </table>
);

const ThreadRow = ({ thread, project }: { thread: TraceThread; project: string }): ReactNode => {
  const navigate = useNavigate();
  const {
    thread_id: threadId,
    num_errored_turns: failed,
    total_tokens: tokens,
    latency_p50: latency,
  } = thread;
  const target = { to: '/traces', search: { view: 'threads', project, thread: threadId } } as const;
  return (
    <tr onClick={() => void navigate(target)}>
      <td>
        <Link {...target} data-row className="mono" aria-label={`Thread ${visibleText(threadId)}`}>
          {shortThreadId(threadId)}
        </Link>
      </td>
      <td className="wide">
        <Preview thread={thread} />
      </td>
      <td className="number">
        {tokensOf(thread.count)}
        {failed > 0 && (
          <>
            , <span className="thread-errors">{tokensOf(failed)} failed</span>
          </>
        )}
      </td>
      <td className="number optional">{tokens > 0 && tokensOf(tokens)}</td>
      <td className="number optional">{costOf(thread.total_cost)}</td>
      <td className="number optional">{latency !== null && duration(latency * 1_000)}</td>
      <td className="number optional">
        <Ago at={thread.min_start_time} />
      </td>
      <td className="number">
        <Ago at={thread.max_start_time} />
      </td>
    </tr>
  );
};

/** The first message and the newest one. */
const Preview = ({ thread }: { thread: TraceThread }): ReactNode => {
  const [first, last] = [thread.first_inputs, thread.last_outputs ?? thread.last_error];
  return (
    <>
      {first !== null && visibleText(first.slice(0, previewMax))}
      {last !== null && <span className="muted"> → {visibleText(last.slice(0, previewMax))}</span>}
    </>
  );
};
