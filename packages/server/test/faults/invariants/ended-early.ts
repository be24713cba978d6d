// Cancelled and rolled back runs, and deleted threads: nothing is written after that.
import type { Checker, Evidence } from './evidence.ts';

const countCheckpoints = async (query: Evidence['query'], run_id: string): Promise<number> => {
  const [row] = await query<{ count: number }>(
    'select count(*)::integer as count from checkpoints where run_id = $1',
    [run_id],
  );
  return row?.count ?? 0;
};

/** Once a cancel was acknowledged, the run has ended and writes nothing more. */
export const cancelledRunsWriteNothing: Checker = async ({ query, history }) => {
  const wrong: string[] = [];
  for (const { run_id, checkpoints } of history.of('cancelled')) {
    const later = (await countCheckpoints(query, run_id)) - checkpoints;
    if (later > 0) wrong.push(`run ${run_id} wrote ${later} checkpoints after it was cancelled`);
    const [run] = await query<{ status: string }>('select status from runs where run_id = $1', [run_id]);
    if (run && !['interrupted', 'success', 'error'].includes(run.status))
      wrong.push(`run ${run_id} was cancelled and is ${run.status}`);
  }
  return wrong;
};

/** A rolled back run is deleted with its own checkpoints, and no others. */
export const rollbackRemovesOneRun: Checker = async ({ query, history }) => {
  const deleted = new Set(history.of('deleted').map(({ thread_id }) => thread_id));
  const wrong: string[] = [];
  for (const { thread_id, run_id, before } of history.of('rolled back')) {
    if ((await query('select 1 from runs where run_id = $1', [run_id])).length > 0)
      wrong.push(`run ${run_id} was rolled back and is there`);
    const left = await countCheckpoints(query, run_id);
    if (left > 0) wrong.push(`run ${run_id} was rolled back and has ${left} checkpoints`);
    if (deleted.has(thread_id)) continue;
    const kept = await query(
      'select 1 from checkpoints where thread_id = $1 and checkpoint_id = any ($2::uuid[])',
      [thread_id, before],
    );
    if (kept.length < before.length)
      wrong.push(`the rollback of run ${run_id} deleted ${before.length - kept.length} older checkpoints`);
  }
  return wrong;
};

interface Column {
  table_name: string;
  column_name: string;
}

/** No table contains rows of a deleted thread, including tables that this code does not know. */
export const deletedThreadsLeaveNothing: Checker = async ({ query, history }) => {
  const deleted = history.of('deleted');
  if (deleted.length === 0) return [];
  const ids: Record<string, string[]> = {
    thread_id: deleted.map((entry) => entry.thread_id),
    run_id: deleted.flatMap((entry) => entry.run_ids),
  };
  const columns = await query<Column>(
    `select table_name, column_name from information_schema.columns c
     where table_schema = 'svc' and column_name in ('thread_id', 'run_id')
       and table_name !~ '^(trace|tenant|feedback)'`,
  );
  const wrong: string[] = [];
  for (const { table_name, column_name } of columns) {
    const [left] = await query<{ count: number }>(
      `select count(*)::integer as count from svc.${table_name} where ${column_name}::text = any ($1::text[])`,
      [ids[column_name]],
    );
    if (left && left.count > 0) wrong.push(`${left.count} rows of deleted threads are left in ${table_name}`);
  }
  return wrong;
};
