// Creates runs. Those of concurrent requests are created by one statement.
import type { Database } from '../../postgres/database.ts';
import { GroupedWrites } from '../../postgres/grouped-writes.ts';
import { inputsMax } from './run-inputs.ts';
import type { CreatedRun, NewRun } from './run-rows.ts';
import { statement } from '../../postgres/statement.ts';

export const statements = {
  create: statement('select * from create_run(json_populate_record(null::new_run, $1), $2)'),
  createSeveral: statement('select * from create_runs($1, $2)'),
};

/** The fields of the SQL type `new_run`: all of the run but its kwargs. */
export const recordOf = (run: NewRun): object => {
  const { kwargs: _, leaseMs, delayMs, workerTtlMs, access, assistantAccess, ...fields } = run;
  return {
    ...fields,
    lease: `${leaseMs} ms`,
    delay: `${delayMs} ms`,
    served_within: `${workerTtlMs} ms`,
    access: access.jsonpath,
    assistant_access: assistantAccess.jsonpath,
    inputs_max: inputsMax,
  };
};

/** `sinceMs`: the monotonic time from which the run's lease counts, if it was claimed. */
export type TimedRun = CreatedRun & { sinceMs: number };

export const createRun = async (db: Database, run: NewRun): Promise<TimedRun> => {
  let sinceMs = performance.now();
  const statement = { ...statements.create, onSend: () => (sinceMs = performance.now()) };
  const [row] = await db.query<CreatedRun>(statement, [JSON.stringify(recordOf(run)), run.kwargs]);
  return { ...(row as CreatedRun), sinceMs };
};

/** A row of create_runs(). `contended`: the run was not created, because the others would have waited for it. */
type GroupRow = { n: number } & (CreatedRun | { outcome: 'contended' });

/** Creates runs by one statement. A run for which the others would wait is created alone; its result is a promise. */
export const createRuns = async (db: Database, runs: NewRun[]): Promise<(TimedRun | Promise<TimedRun>)[]> => {
  let sinceMs = performance.now();
  const statement = { ...statements.createSeveral, onSend: () => (sinceMs = performance.now()) };
  const rows = await db.query<GroupRow>(statement, [
    JSON.stringify(runs.map(recordOf)),
    runs.map(({ kwargs }) => kwargs),
  ]);
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
