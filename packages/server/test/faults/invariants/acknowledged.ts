// What was acknowledged is there, and ended as was told.
import type { Checker } from './evidence.ts';

interface RunRow {
  run_id: string;
  status: string;
}

/** Every thread and run that a client was told of exists, and every run has one fate: that which was told. */
export const nothingAcknowledgedIsLost: Checker = async ({ query, history }) => {
  const deleted = new Set(history.of('deleted').map(({ thread_id }) => thread_id));
  const takenBack = new Set(history.of('rolled back').map(({ run_id }) => run_id));
  const threads = new Set(
    (await query<{ id: string }>('select thread_id as id from threads')).map(({ id }) => id),
  );
  const runs = new Map(
    (await query<RunRow>('select run_id, status from runs')).map((run) => [run.run_id, run.status]),
  );
  const told = history
    .of('result')
    .filter((result) => !deleted.has(result.thread_id) && !takenBack.has(result.run_id));
  return [
    ...history
      .of('thread')
      .filter(({ thread_id }) => !threads.has(thread_id) && !deleted.has(thread_id))
      .map(({ thread_id }) => `thread ${thread_id} was acknowledged and is lost`),
    ...history
      .of('run')
      .filter(
        ({ run_id, thread_id }) => !runs.has(run_id) && !deleted.has(thread_id) && !takenBack.has(run_id),
      )
      .map(({ run_id }) => `run ${run_id} was acknowledged and is lost`),
    ...told
      .filter(({ run_id, error }) => error === undefined && runs.get(run_id) !== 'success')
      .map(({ run_id }) => `run ${run_id} was told to have succeeded and is ${runs.get(run_id)}`),
  ];
};

/** A run that a client asked for once, however often it had to say so, was made once. */
export const everyRequestMadeOneRun: Checker = async ({ query }) => {
  const twice = await query<{ marker: string; count: number }>(
    `select metadata->>'marker' as marker, count(*)::integer as count from runs
     where metadata ? 'marker' group by 1 having count(*) > 1`,
  );
  return twice.map(({ marker, count }) => `${count} runs were made for the one request ${marker}`);
};
