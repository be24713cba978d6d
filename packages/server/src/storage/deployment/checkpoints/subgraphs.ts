// The subgraphs of a thread, by the namespaces of their checkpoints.
import type { Database } from '../../postgres/database.ts';
import type { RowFilter } from '../../postgres/row-filter.ts';
import type { RunRow } from '../runs/run-rows.ts';
import { readStatement } from '../../postgres/statement.ts';

export interface SubgraphRow {
  checkpoint_ns: string;
  /** The run that stored the newest checkpoint; null when the run was deleted. */
  run_id: string | null;
  run_status: RunRow['status'] | null;
  /** True when tasks are left to be executed. */
  has_tasks: boolean;
}

export const statements = {
  list: readStatement<SubgraphRow>(`select h.checkpoint_ns, r.run_id, r.status as run_status,
        coalesce(json_array_length(c.shape::json -> 'tasks'), 0) > 0 as has_tasks
      from (
        select checkpoint_ns, checkpoint_id from checkpoint_heads
        where thread_id = $1 and checkpoint_ns <> ''
          and exists (select from threads t where t.thread_id = $1 and t.metadata @@ $2::jsonpath)
        order by checkpoint_id desc limit $4
      ) h
      join checkpoints c on c.thread_id = $1 and c.checkpoint_ns = h.checkpoint_ns and c.checkpoint_id = h.checkpoint_id
      left join runs r on r.run_id = c.run_id
      where $3::uuid is null or c.run_id = $3
      order by h.checkpoint_id`),
};

export type SubgraphStorage = ReturnType<typeof subgraphStorage>;

export const subgraphStorage = (db: Database) => ({
  /** Reads the `limit` newest subgraphs of the thread, and returns all of them, or only those of a run. Oldest first. */
  list: (
    thread_id: string,
    run_id: string | undefined,
    limit: number,
    access: RowFilter,
  ): Promise<SubgraphRow[]> => db.query(statements.list, [thread_id, access.jsonpath, run_id ?? null, limit]),
});
