// Why a thread does not go on: a run has not ended or has failed, or a question waits for a person. A link leads to the run or the question.
import type { Thread } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { useOpenTasks } from '../api/queries.ts';
import type { RunStatus } from '../api/statuses.ts';
import { questionsOf, titleOf } from '../interrupts/read-interrupt.ts';
import { usePollMs } from '../live/live-runs.tsx';
import { Ago } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';

export const ThreadNotice = ({ thread, asks }: { thread: Thread; asks: boolean | undefined }): ReactNode => {
  if (thread.status === 'busy') return <OpenRuns threadId={thread.thread_id} />;
  if (thread.status === 'error') return <FailedRun threadId={thread.thread_id} />;
  return asks === true ? <Question threadId={thread.thread_id} /> : null;
};

const textMax = 300;

const Notice = ({
  tone,
  link,
  children,
}: {
  tone: 'amber' | 'red' | 'blue';
  link: ReactNode;
  children: ReactNode;
}): ReactNode => (
  <div className="pad">
    <div className="notice" data-tone={tone}>
      <span className="notice-text" dir="auto">
        {children}
      </span>
      {link}
    </div>
  </div>
);

const Question = ({ threadId }: { threadId: string }): ReactNode => {
  const { data: open } = useOpenTasks(threadId);
  const [question] = open === undefined ? [] : questionsOf(open);
  const link = (
    <Link to="/inbox" search={{ sel: threadId }} className="button">
      Answer in the inbox
    </Link>
  );
  return (
    <Notice tone="amber" link={link}>
      {visibleText(titleOf(question?.value).slice(0, textMax))}
    </Notice>
  );
};

const useRunsWith = (
  threadId: string,
  filter: { status: RunStatus[]; sort_order: 'asc' | 'desc'; limit: number },
) =>
  useServerQuery({
    // A change of a run of the thread reads everything below this key again.
    queryKey: ['thread', threadId, 'notice', filter],
    read: (client, call) =>
      client.runs.search(
        {
          ...filter,
          thread_id: threadId,
          select: ['run_id', 'status', 'error', 'created_at', 'updated_at'],
        },
        call,
      ),
    refetchInterval: usePollMs(4_000),
  }).data ?? [];

const OpenRun = ({ threadId, runId }: { threadId: string; runId: string }): ReactNode => (
  <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId }} className="button">
    Open the run
  </Link>
);

/** The last run of a thread with the status error. */
const FailedRun = ({ threadId }: { threadId: string }): ReactNode => {
  const [failed] = useRunsWith(threadId, { status: ['error', 'timeout'], sort_order: 'desc', limit: 1 });
  if (!failed) return null;
  const { run_id: runId, error, updated_at: at } = failed;
  return (
    <Notice tone="red" link={<OpenRun threadId={threadId} runId={runId} />}>
      The last run failed <Ago at={at} />:{' '}
      {visibleText((error?.message ?? 'without an error').slice(0, textMax))}
    </Notice>
  );
};

const openRunsMax = 10;

/** The runs of a busy thread that have not ended. */
const OpenRuns = ({ threadId }: { threadId: string }): ReactNode => {
  const runs = useRunsWith(threadId, {
    status: ['pending', 'running'],
    sort_order: 'asc',
    limit: openRunsMax,
  });
  const first = runs.find(({ status }) => status === 'running') ?? runs[0];
  if (!first) return null;
  const { run_id: runId, status, created_at: at } = first;
  const others = runs.length - 1;
  return (
    <Notice tone="blue" link={<OpenRun threadId={threadId} runId={runId} />}>
      {/* The time is outside of the live region: screen readers would announce each change. */}
      <span role="status">
        Run {runId.slice(0, 8)} is {status}
        {others > 0 && `; ${others}${runs.length === openRunsMax ? '+' : ''} more behind it`}.
      </span>{' '}
      Created <Ago at={at} />.
    </Notice>
  );
};
