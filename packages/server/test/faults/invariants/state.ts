// Clients read from a thread what its runs wrote.
import { isDeepStrictEqual } from 'node:util';
import type { Checker, Evidence } from './evidence.ts';

interface Thread {
  thread_id: string;
}

interface RunRow {
  run_id: string;
  thread_id: string;
  status: string;
  marker: string;
  steps: number;
}

interface State {
  values: { log?: string[] } | null;
}

const readThreads = (query: Evidence['query']): Promise<Thread[]> =>
  query<Thread>('select distinct thread_id from checkpoints');

/** A thread, its state and the first page of its history return the same values. */
export const readersAgree: Checker = async ({ query, get }) => {
  const wrong: string[] = [];
  for (const { thread_id } of await readThreads(query)) {
    const [thread, state, history] = (
      await Promise.all(['', '/state', '/history?limit=1'].map((path) => get(`/threads/${thread_id}${path}`)))
    ).map((answer) => answer.body) as [State, State, State[]];
    if (!isDeepStrictEqual(thread.values, state.values))
      wrong.push(`thread ${thread_id} has other values than its state`);
    if (!isDeepStrictEqual(history[0]?.values, state.values))
      wrong.push(`the newest checkpoint of thread ${thread_id} has other values than its state`);
  }
  return wrong;
};

/**
 * The markers of a run are consecutive in the log of its thread, each once and in order: all of them when it succeeded, the first few when
 * it did not. A marker without a run of the thread belongs to a run that was rolled back.
 */
export const markersAppearOnceInOrder: Checker = async ({ query, get }) => {
  const runs = await query<RunRow>(
    `select run_id, thread_id, status, metadata->>'marker' as marker, (metadata->>'steps')::integer as steps
     from runs where metadata ? 'marker' order by created_at, run_id`,
  );
  const wrong: string[] = [];
  for (const thread_id of new Set(runs.map((run) => run.thread_id))) {
    const state = (await get(`/threads/${thread_id}/state`)).body as State;
    const own = runs.filter((run) => run.thread_id === thread_id);
    wrong.push(...checkLog(thread_id, state.values?.log ?? [], own));
  }
  return wrong;
};

const checkLog = (thread_id: string, log: string[], runs: RunRow[]): string[] => {
  const wrong: string[] = [];
  for (const { run_id, status, marker, steps } of runs) {
    const own = log.filter((entry) => entry.startsWith(`${marker}:`));
    if (own.some((entry, index) => entry !== `${marker}:${index}`))
      wrong.push(`run ${run_id} (${status}) wrote ${own.join(' ')} to thread ${thread_id}`);
    if (status === 'success' && own.length !== steps)
      wrong.push(`run ${run_id} succeeded with ${own.length} of its ${steps} steps`);
    const first = log.indexOf(`${marker}:0`);
    if (own.length > 0 && !isDeepStrictEqual(log.slice(first, first + own.length), own))
      wrong.push(`other markers are between the markers of run ${run_id}`);
  }
  const owned = new Set(runs.map((run) => run.marker));
  const strange = log.filter((entry) => !owned.has(entry.slice(0, entry.lastIndexOf(':'))));
  if (strange.length > 0) wrong.push(`no run wrote ${strange.join(' ')} to thread ${thread_id}`);
  return wrong;
};
