// Threads and the runs on them agree with each other.
import type { Checker } from './evidence.ts';

/** A thread is busy exactly while it has a run that goes on or waits; and nothing goes on for ever. */
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
    ...stuck.map(({ thread_id }) => `thread ${thread_id} is busy with nothing`),
    ...denied.map(({ thread_id, status }) => `thread ${thread_id} is ${status} while a run goes on`),
  ];
};

/** Two runs of a thread never go on at once, and the index that makes it so is in force. */
export const oneRunGoesOnPerThread: Checker = async ({ query }) => {
  const crowded = await query<{ thread_id: string; count: number }>(
    `select thread_id, count(*)::integer as count from runs where status = 'running' group by 1 having count(*) > 1`,
  );
  const index = await query(
    `select 1 from pg_index i where i.indrelid = 'runs'::regclass and i.indisunique and i.indisvalid
       and pg_get_expr(i.indpred, i.indrelid) like '%running%'`,
  );
  return [
    ...crowded.map(({ thread_id, count }) => `${count} runs go on at once on thread ${thread_id}`),
    ...(index.length === 0 ? ['nothing keeps two runs from going on at once on a thread'] : []),
  ];
};

/** Nothing waits or goes on any more: the end of the quiet phase. */
export const everythingHasEnded: Checker = async ({ query }) => {
  const left = await query<{ run_id: string; status: string; attempt: number }>(
    `select run_id, status, attempt from runs where status in ('pending', 'running')`,
  );
  return left.map(({ run_id, status, attempt }) => `run ${run_id} is still ${status}, attempt ${attempt}`);
};
