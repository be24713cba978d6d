// Runs as rows, for tests of storage: no executor runs them.
import { randomUUID } from 'node:crypto';
import { assistantStorage } from '../../src/storage/deployment/assistants/assistants.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { recordOf } from '../../src/storage/deployment/runs/run-creation.ts';
import type { ClaimOptions } from '../../src/storage/deployment/runs/run-leases.ts';
import type { NewRun } from '../../src/storage/deployment/runs/run-rows.ts';

/** Creates an assistant and returns its id. */
export const newAssistant = async (db: Database, graph_id = 'agent'): Promise<string> => {
  const assistant_id = randomUUID();
  const assistant = { assistant_id, graph_id, name: 'agent', description: null };
  await assistantStorage(db).create({ ...assistant, config: {}, context: null, metadata: {} });
  return assistant_id;
};

/** Claim options of a worker that has just started, for runs of the graph that newAssistant() names. */
export const claimOf = (count: number, options: Partial<ClaimOptions> = {}): ClaimOptions => ({
  count,
  worker_id: randomUUID(),
  leaseMs: 30_000,
  attemptsMax: 3,
  graphs: ['agent'],
  served: [],
  ...options,
});

/** A run that may be created again by a retry, on a thread that is created when it does not exist. */
export const newRun = (assistant_id: string, thread_id: string | null): NewRun => ({
  run_id: randomUUID(),
  thread_id,
  assistant_id,
  metadata: {},
  kwargs: '{}',
  multitask_strategy: 'enqueue',
  create_thread: true,
  claim: false,
  leaseMs: 600_000,
  delayMs: 0,
  worker_id: randomUUID(),
  log: 'nothing',
  resumable: false,
  webhook: null,
  keyed: true,
  access: everyRow,
  assistantAccess: everyRow,
  sealed_user: null,
  graphs: null,
  workerTtlMs: 60_000,
  answered_state_at: null,
  input_of: undefined,
});

/** Creates runs by one statement. Each has an id and a thread of its own, and is otherwise like `run`. */
export const createCopies = (db: Database, run: NewRun, count: number) =>
  db.query(
    {
      name: 'create_copies',
      text: `select count(*) from (select create_run(json_populate_record(json_populate_record(null::new_run, $1),
        json_build_object('run_id', gen_random_uuid(), 'thread_id', gen_random_uuid())), $2)
        from generate_series(1, $3)) s`,
    },
    [JSON.stringify(recordOf({ ...run, keyed: false })), run.kwargs, count],
  );
