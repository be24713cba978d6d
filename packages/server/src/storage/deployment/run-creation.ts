// Creates runs. Those of concurrent requests are created by one statement.
import type { Database } from '../postgres/database.ts';
import { GroupedWrites } from '../postgres/grouped-writes.ts';
import { functionCall } from '../postgres/named-statement.ts';
import type { CreatedRun, NewRun } from './run-rows.ts';

const statements = {
  create: functionCall({
    name: 'runs_create',
    function: 'create_run',
    parameters: [
      'run_id',
      'thread_id',
      'assistant_id',
      'metadata',
      'kwargs',
      'strategy',
      'create_thread',
      'claim',
      'lease',
      'delay',
      'worker_id',
      'log',
      'resumable',
      'webhook',
      'keyed',
      'access',
      'assistant_access',
      'sealed_user',
      'graphs',
      'served_within',
      'answered_state_at',
    ],
    casts: {
      lease: `:lease * interval '1 ms'`,
      delay: `:delay * interval '1 ms'`,
      served_within: `:served_within * interval '1 ms'`,
    },
  }),
  createSeveral: { name: 'runs_create_several', text: 'select * from create_runs($1)' },
};

/** `sinceMs`: the monotonic time from which the run's lease counts, if it was claimed. */
export type TimedRun = CreatedRun & { sinceMs: number };

export const createRun = async (db: Database, run: NewRun): Promise<TimedRun> => {
  let sinceMs = performance.now();
  const statement = { ...statements.create.statement, onSend: () => (sinceMs = performance.now()) };
  const values = statements.create.values({
    ...run,
    metadata: JSON.stringify(run.metadata),
    strategy: run.multitask_strategy,
    lease: run.leaseMs,
    delay: run.delayMs,
    access: run.access.jsonpath,
    assistant_access: run.assistantAccess.jsonpath,
    served_within: run.workerTtlMs,
  });
  const [row] = await db.query<CreatedRun>(statement, values);
  return { ...(row as CreatedRun), sinceMs };
};

/** A row of create_runs(). `contended`: the run was not created, because the others would have waited for it. */
type GroupRow = { n: number } & (CreatedRun | { outcome: 'contended' });

/** The parameters of a run as a row of the list that create_runs() takes. */
const listed = (
  { multitask_strategy, leaseMs, delayMs, workerTtlMs, access, assistantAccess, ...run }: NewRun,
  n: number,
): object => ({
  n,
  ...run,
  strategy: multitask_strategy,
  lease_ms: leaseMs,
  delay_ms: delayMs,
  served_within_ms: workerTtlMs,
  access: access.jsonpath,
  assistant_access: assistantAccess.jsonpath,
});

/** Creates runs by one statement. A run for which the others would wait is created alone; its result is a promise. */
export const createRuns = async (db: Database, runs: NewRun[]): Promise<(TimedRun | Promise<TimedRun>)[]> => {
  let sinceMs = performance.now();
  const statement = { ...statements.createSeveral, onSend: () => (sinceMs = performance.now()) };
  const rows = await db.query<GroupRow>(statement, [JSON.stringify(runs.map(listed))]);
  const byPosition = new Map(rows.map(({ n, ...row }) => [n, row]));
  return runs.map((run, n) => {
    const row = byPosition.get(n);
    return row === undefined || row.outcome === 'contended'
      ? createRun(db, run)
      : { ...(row as CreatedRun), sinceMs };
  });
};

/** Creates runs for concurrent requests. Each gets its own outcome or error. */
export const groupedCreation = (db: Database): GroupedWrites<NewRun, TimedRun> =>
  new GroupedWrites({
    one: (run) => createRun(db, run),
    several: (runs) => createRuns(db, runs),
    bytesOf: ({ kwargs, metadata }) => kwargs.length + JSON.stringify(metadata).length,
  });
