// Acknowledged objects exist, and have the outcome that clients got.
import type { Checker } from './evidence.ts';

interface RunRow {
  run_id: string;
  status: string;
}

/** Every acknowledged thread and run exists, and every run has the outcome that the client got. */
export const nothingAcknowledgedIsLost: Checker = async ({ query, history }) => {
  const deleted = new Set(history.of('deleted').map(({ thread_id }) => thread_id));
  const rolledBack = new Set(history.of('rolled back').map(({ run_id }) => run_id));
  const threads = new Set(
    (await query<{ id: string }>('select thread_id as id from threads')).map(({ id }) => id),
  );
  const runs = new Map(
    (await query<RunRow>('select run_id, status from runs')).map((run) => [run.run_id, run.status]),
  );
  const results = history
    .of('result')
    .filter((result) => !deleted.has(result.thread_id) && !rolledBack.has(result.run_id));
  return [
    ...history
      .of('thread')
      .filter(({ thread_id }) => !threads.has(thread_id) && !deleted.has(thread_id))
      .map(({ thread_id }) => `thread ${thread_id} was acknowledged and is lost`),
    ...history
      .of('run')
      .filter(
        ({ run_id, thread_id }) => !runs.has(run_id) && !deleted.has(thread_id) && !rolledBack.has(run_id),
      )
      .map(({ run_id }) => `run ${run_id} was acknowledged and is lost`),
    ...results
      .filter(({ run_id, error }) => error === undefined && runs.get(run_id) !== 'success')
      .map(({ run_id }) => `run ${run_id} succeeded for the client and is ${runs.get(run_id)}`),
  ];
};

/** A run that a client requested once, with any number of retries, was created once. */
export const everyRequestCreatedOneRun: Checker = async ({ query }) => {
  const twice = await query<{ marker: string; count: number }>(
    `select metadata->>'marker' as marker, count(*)::integer as count from runs
     where metadata ? 'marker' group by 1 having count(*) > 1`,
  );
  return twice.map(({ marker, count }) => `${count} runs were created for the one request ${marker}`);
};
