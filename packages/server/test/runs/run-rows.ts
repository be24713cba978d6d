// Runs as rows, for tests of storage: nobody executes them.
import { randomUUID } from 'node:crypto';
import { assistantStorage } from '../../src/storage/deployment/assistants.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import type { ClaimOptions } from '../../src/storage/deployment/run-leases.ts';
import type { NewRun } from '../../src/storage/deployment/runs.ts';

/** Makes an assistant, and returns its id. */
export const newAssistant = async (db: Database, graph_id = 'agent'): Promise<string> => {
  const assistant_id = randomUUID();
  const assistant = { assistant_id, graph_id, name: 'agent', description: null };
  await assistantStorage(db).create({ ...assistant, config: {}, context: null, metadata: {} });
  return assistant_id;
};

/** A claim by a worker that has just started, of runs of the graph that newAssistant() names. */
export const claimOf = (count: number, options: Partial<ClaimOptions> = {}): ClaimOptions => ({
  count,
  worker_id: randomUUID(),
  leaseMs: 30_000,
  attemptsMax: 3,
  graphs: ['agent'],
  served: [],
  ...options,
});

/** A run that may be asked for again, on a thread that is made if it is not there. */
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
});
