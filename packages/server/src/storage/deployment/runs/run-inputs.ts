// Inputs that were sent into a run. Each is a pending run, which the run that takes the input ends (functions/runs/take_inputs.sql).
import type { Database } from '../../postgres/database.ts';
import { readStatement } from '../../postgres/statement.ts';

export interface WaitingInput {
  run_id: string;
  /** The input as JSON text. */
  input: string;
  /** Identity of the sender; null without custom authentication. */
  author: string | null;
  created_at: string;
}

/** Inputs that may wait on a thread. */
export const inputsMax = 100;

export const statements = {
  // Inputs for this run, and inputs for runs that have ended. The order is that of advance_thread().
  waiting:
    readStatement<WaitingInput>(`select r.run_id, r.kwargs::json ->> 'input' as input, r.metadata ->> 'svc_auth_user_id' as author,
        r.created_at
      from runs r
      where r.thread_id = $1 and r.status = 'pending' and r.input_of is not null and r.waits_for in ('thread', 'answer')
        and (r.input_of = $2 or not exists (
          select 1 from runs o where o.run_id = r.input_of and o.status in ('pending', 'running')))
      order by r.created_at, r.run_id desc limit $3`),
};

export type RunInputStorage = ReturnType<typeof runInputStorage>;

export const runInputStorage = (db: Database) => ({
  /** The inputs that a run may take, oldest first. */
  listWaiting: (thread_id: string, run_id: string): Promise<WaitingInput[]> =>
    db.query(statements.waiting, [thread_id, run_id, inputsMax]),
});
