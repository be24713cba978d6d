// Runs that have been pending for a minute, by the reason. The reason is read run by run.
import { ApiError, type Client, type Run } from '@svc/sdk';

const pendingMs = 60_000;
/** The reason is read of at most so many pending runs, the oldest first. */
const examinedMax = 50;
const shownMax = 5;

export type StuckRun = Pick<Run, 'run_id' | 'thread_id' | 'assistant_id' | 'created_at'>;
type PendingRun = StuckRun & Pick<Run, 'waiting_for'>;
type Waiting = NonNullable<Run['waiting_for']>;

/** Runs that are pending for one reason, the oldest first. */
export interface Group {
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
 * Reads runs one after another until enough of them do not wait for a time that their creator has chosen.
 * `read` returns undefined for a run that has been deleted.
 */
export const examine = async <Id>(
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
export const unlessDeleted = async <Value>(reading: Promise<Value>): Promise<Value | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
};

export const readPending = async (client: Client, signal: AbortSignal): Promise<Pending> => {
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
