// The threads of a project, those with the newest trace runs first.
import type { TraceThread } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { duration } from '../ui/duration.ts';
import { costOf, countOf, tokensOf } from '../ui/number-text.ts';
import { LoadedPages } from '../ui/paging.tsx';
import { NoMatch, State } from '../ui/states.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { PageNotice } from './trace-table.tsx';
import { shortThreadId, type ThreadFilter, type useTraceThreads } from './trace-thread-queries.ts';

const previewMax = 200;

const columnsOf = (project: string): Column<TraceThread>[] => [
  {
    name: 'Thread',
    cell: ({ thread_id: thread }) => (
      <Link
        to="/traces"
        search={{ view: 'threads', project, thread }}
        data-row
        className="mono"
        aria-label={`Thread ${visibleText(thread)}`}
      >
        {shortThreadId(thread)}
      </Link>
    ),
  },
  { name: 'Conversation', className: 'wide', cell: (thread) => <Preview thread={thread} /> },
  {
    name: 'Traces',
    className: 'number',
    cell: ({ count, num_errored_turns: failed }) => (
      <>
        {countOf(count)}
        {failed > 0 && (
          <>
            , <span className="thread-errors">{countOf(failed)} failed</span>
          </>
        )}
      </>
    ),
  },
  {
    name: 'Tokens',
    className: 'number optional',
    cell: ({ total_tokens: tokens }) => tokens > 0 && tokensOf(tokens),
  },
  { name: 'Cost', className: 'number optional', cell: (thread) => costOf(thread.total_cost) },
  {
    name: 'Latency p50',
    className: 'number optional',
    cell: ({ latency_p50: latency }) => latency !== null && duration(latency * 1_000),
  },
  { name: 'First', className: 'number optional', cell: (thread) => <Ago at={thread.min_start_time} /> },
  { name: 'Last', className: 'number', cell: (thread) => <Ago at={thread.max_start_time} /> },
];

export const TraceThreadList = ({
  query,
  filter,
}: {
  query: ReturnType<typeof useTraceThreads>;
  filter: ThreadFilter;
}): ReactNode => (
  <LoadedPages
    query={query}
    rowsOf={({ items }) => items}
    empty={<NoThreads filter={filter} />}
    more="Load older threads"
  >
    {(threads, pages) => (
      <>
        {threads.length > 0 && (
          <DataTable
            rows={threads}
            columns={columnsOf(filter.project)}
            keyOf={({ thread_id: threadId }) => threadId}
          />
        )}
        <PageNotice notice={pages.at(-1)?.notice} />
      </>
    )}
  </LoadedPages>
);

const NoThreads = ({ filter }: { filter: ThreadFilter }): ReactNode =>
  [filter.filter, filter.since, filter.from, filter.to].some((value) => value !== undefined) ? (
    <NoMatch noun="thread" to="/traces" search={{ view: 'threads', project: filter.project }} />
  ) : (
    <State icon="empty" title="The project has no threads">
      <p className="muted">
        A trace run belongs to the thread that its metadata names: in <code>session_id</code>, else{' '}
        <code>conversation_id</code>, else <code>thread_id</code>. Runs of this server name their thread.
      </p>
    </State>
  );

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
