// Threads are consistent with their runs.
import type { Checker } from './evidence.ts';

/** A thread is busy exactly while it has a pending or running run. */
export const noThreadIsStuck: Checker = async ({ query }) => {
  const stuck = await query<{ thread_id: string }>(
    `select thread_id from threads t where t.status = 'busy' and not exists (
       select 1 from runs r where r.thread_id = t.thread_id and r.status in ('pending', 'running'))`,
  );
  const denied = await query<{ thread_id: string; status: string }>(
    `select t.thread_id, t.status from threads t join runs r using (thread_id)
     where r.status = 'running' and t.status <> 'busy'`,
  );
  return [
    ...stuck.map(({ thread_id }) => `thread ${thread_id} is busy without a run`),
    ...denied.map(({ thread_id, status }) => `thread ${thread_id} is ${status} with a running run`),
  ];
};

/** A thread never has two running runs, and the index that ensures it exists. */
export const oneRunningRunPerThread: Checker = async ({ query }) => {
  const crowded = await query<{ thread_id: string; count: number }>(
    `select thread_id, count(*)::integer as count from runs where status = 'running' group by 1 having count(*) > 1`,
  );
  const index = await query(
    `select 1 from pg_index i where i.indrelid = 'runs'::regclass and i.indisunique and i.indisvalid
       and pg_get_expr(i.indpred, i.indrelid) like '%running%'`,
  );
  return [
    ...crowded.map(({ thread_id, count }) => `${count} runs execute at once on thread ${thread_id}`),
    ...(index.length === 0 ? ['no index prevents two runs from executing at once on a thread'] : []),
  ];
};

/** No run is pending or running at the end of a scenario. */
export const everythingHasEnded: Checker = async ({ query }) => {
  const left = await query<{ run_id: string; status: string; attempt: number }>(
    `select run_id, status, attempt from runs where status in ('pending', 'running')`,
  );
  return left.map(({ run_id, status, attempt }) => `run ${run_id} is still ${status}, attempt ${attempt}`);
};
