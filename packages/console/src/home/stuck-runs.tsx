// Runs that have been pending for a minute, by the reason, and runs that have been running for ten minutes.
import { ApiError, type Assistant, type Client, type Run } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useServerQuery } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { duration } from '../ui/duration.ts';
import { countText } from '../ui/number-text.ts';
import { useNow } from '../ui/use-now.ts';
import { type Finding, type Findings, findingsMs } from './finding.tsx';

/** Used instead of `findingsMs` when each reading takes many requests. */
const manyRunsMs = 60_000;

export const useStuckRuns = (): Findings => {
  const { data: assistants = [] } = useAssistants();
  const nowMs = useNow();
  const query = useServerQuery({
    queryKey: ['attention', 'stuck'],
    read: async (client, call) => {
      const [pending, running] = await Promise.all([
        readPending(client, call.signal),
        readRunning(client, call.signal),
      ]);
      return { pending, running };
    },
    refetchInterval: ({ state }) => (state.data?.pending.isPartial ? manyRunsMs : findingsMs),
  });
  if (!query.data) return { found: undefined, error: query.error };
  const { pending, running } = query.data;
  return {
    found: [
      ...pending.groups.map((group) => pendingFinding(group, pending.hasMore, assistants, nowMs)),
      ...runningFinding(running, assistants, nowMs),
    ],
    error: query.error,
    unexamined: unexaminedText(pending),
  };
};

const nameOf = ({ run_id: id, assistant_id: of }: StuckRun, assistants: readonly Assistant[]): string => {
  const assistant = assistants.find(({ assistant_id: known }) => known === of);
  return `Run ${id.slice(0, 8)}${assistant ? ` of ${assistant.name}` : ''}`;
};

const since = (at: string, nowMs: number): string => duration(nowMs - Date.parse(at));

const RunLink = ({
  runId,
  threadId,
  children,
}: {
  runId: string;
  threadId: string;
  children: string;
}): ReactNode => (
  <Link to="/runs/$runId" params={{ runId }} search={{ thread: threadId }} className="button">
    {children}
  </Link>
);

const pendingFinding = (
  { waiting, runs }: Group,
  hasMore: boolean,
  assistants: readonly Assistant[],
  nowMs: number,
): Finding => {
  const [first] = runs;
  if (!first) throw new Error('a group has at least one run');
  const { run_id: runId, thread_id: threadId } = first;
  return {
    key: `pending ${waiting.message}`,
    tone: 'amber',
    sentence:
      runs.length === 1
        ? `${nameOf(first, assistants)} has been pending for ${since(first.created_at, nowMs)}`
        : `${countText(runs.length, 'run', { hasMore })} have been pending for up to ${since(first.created_at, nowMs)}`,
    reason: waiting.message,
    links: (
      <>
        {waiting.run_id !== undefined && (
          <RunLink runId={waiting.run_id} threadId={threadId}>
            Open the run in front
          </RunLink>
        )}
        {waiting.reason === 'slot' && (
          <Link to="/runs" search={{ status: ['running'], sort: 'asc' }} className="button">
            Open the running runs
          </Link>
        )}
        {runs.length === 1 ? (
          <RunLink runId={runId} threadId={threadId}>
            Open the pending run
          </RunLink>
        ) : (
          <Link to="/runs" search={{ status: ['pending'], sort: 'asc' }} className="button">
            Open the pending runs
          </Link>
        )}
      </>
    ),
  };
};

const runningFinding = (runs: RunningRun[], assistants: readonly Assistant[], nowMs: number): Finding[] => {
  const [first] = runs;
  if (!first) return [];
  const isOne = runs.length === 1;
  const subject = isOne
    ? nameOf(first, assistants)
    : `${countText(runs.length, 'run', { hasMore: runs.length === runningMax })}`;
  const time = isOne ? since(first.started_at, nowMs) : `up to ${since(first.started_at, nowMs)}`;
  return [
    {
      key: 'running',
      tone: 'amber',
      sentence: `${subject} ${isOne ? 'has' : 'have'} been running for ${time}`,
      links: isOne ? (
        <RunLink runId={first.run_id} threadId={first.thread_id}>
          Open the run
        </RunLink>
      ) : (
        <Link to="/runs" search={{ status: ['running'], sort: 'asc' }} className="button">
          Open these runs
        </Link>
      ),
    },
  ];
};

/** A run that has been running for longer is a finding. */
const longMs = 10 * 60_000;
const runningMax = 50;

type CreatedRun = StuckRun & Pick<Run, 'started_at'>;
type RunningRun = StuckRun & { started_at: string };

/** The runs that started before this time, with the time of their start. A run that has waited for long may have started just now. */
export const startedBefore = (runs: readonly CreatedRun[], before: string): RunningRun[] =>
  runs.flatMap(({ started_at: started, ...run }) =>
    started !== undefined && started < before ? [{ ...run, started_at: started }] : [],
  );

const readRunning = async (client: Client, signal: AbortSignal): Promise<RunningRun[]> => {
  const before = new Date(Date.now() - longMs).toISOString();
  const created = await client.runs.search(
    {
      status: 'running',
      created_before: before,
      sort_order: 'asc',
      limit: runningMax,
      select: ['run_id', 'thread_id', 'assistant_id', 'created_at', 'started_at'],
    },
    { signal },
  );
  return startedBefore(created, before);
};

// Runs that have been pending for a minute, by the reason. The reason is read run by run.
const pendingMs = 60_000;
/** The reasons of at most so many pending runs are read, the oldest runs first. */
const examinedMax = 50;
const shownMax = 5;

type StuckRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'created_at'>;
type PendingRun = StuckRun & Pick<Run, 'waiting_for'>;
type Waiting = NonNullable<Run['waiting_for']>;

/** Runs that are pending for one reason, the oldest first. */
interface Group {
  waiting: Waiting;
  runs: StuckRun[];
}

export interface Pending {
  groups: Group[];
  /** More pending runs were found than `groups` has. Any of them may belong to any group. */
  hasMore: boolean;
  /** Pending runs were left out before enough were found. */
  isPartial: boolean;
}

/**
 * Reads runs until it has found enough that are stuck. A run that waits for a time that its creator has chosen is not stuck.
 * `read` returns undefined for a run that has been deleted.
 */
export const examine = async <Id,>(
  oldestFirst: readonly Id[],
  read: (id: Id) => Promise<PendingRun | undefined>,
): Promise<Pending> => {
  const stuck: { run: PendingRun; waiting: Waiting }[] = [];
  // One more than is shown, to know whether there are more.
  const step = shownMax + 1;
  for (let from = 0; from < oldestFirst.length && stuck.length <= shownMax; from += step)
    for (const run of await Promise.all(oldestFirst.slice(from, from + step).map(read)))
      if (run?.waiting_for && run.waiting_for.reason !== 'time')
        stuck.push({ run, waiting: run.waiting_for });
  const groups = new Map<string, Group>();
  for (const { run, waiting } of stuck.slice(0, shownMax)) {
    const group = groups.get(waiting.message) ?? { waiting, runs: [] };
    group.runs.push(run);
    groups.set(waiting.message, group);
  }
  const hasMore = stuck.length > shownMax;
  return {
    groups: [...groups.values()],
    hasMore,
    isPartial: !hasMore && oldestFirst.length >= examinedMax,
  };
};

/** Undefined for a run that was deleted after the search. Other errors are thrown. */
export const unlessDeleted = async <Value,>(reading: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};

const readPending = async (client: Client, signal: AbortSignal): Promise<Pending> => {
  const oldest = await client.runs.search(
    {
      status: 'pending',
      created_before: new Date(Date.now() - pendingMs).toISOString(),
      sort_order: 'asc',
      limit: examinedMax,
      select: ['run_id', 'thread_id'],
    },
    { signal },
  );
  return examine(oldest, ({ thread_id: thread, run_id: id }) =>
    unlessDeleted(client.runs.get(thread, id, { signal })),
  );
};

export const unexaminedText = ({ isPartial }: Pending): string | undefined =>
  isPartial ? `Only the ${examinedMax} oldest pending runs were examined.` : undefined;
