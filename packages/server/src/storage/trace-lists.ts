// Runs of traces that are found by id or by trace. Lists by time are in trace-search.ts.
import type { Database } from './database.ts';
import { asTenant } from './tenant.ts';
import { runColumns, type TraceRow } from './trace-row.ts';
import { type FoundRuns, type RunListFilter, searchRuns, type SearchLimits } from './trace-search.ts';

const statements = {
  byIds: {
    name: 'traces_by_ids',
    text: `select ${runColumns(null)} from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
  },
  tree: {
    name: 'traces_tree',
    text: `select ${runColumns(new Set(['error']))} from tenant_runs r
      where r.tenant_id = $1 and r.trace_id = $2 and (r.day = '-infinity' or r.day >= coalesce(
        (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2 and isfinite(d.day)), '1000-01-01') - 1)
      order by r.start_time, r.id limit $3`,
  },
};

export const traceLists = (db: Database) => ({
  listByIds: (tenant_id: string, ids: string[], limit: number): Promise<TraceRow[]> =>
    asTenant(db, tenant_id, (tx) => tx.query<TraceRow>(statements.byIds, [tenant_id, ids, limit])),

  /** All of a trace without payloads, in the order of their starts. */
  tree: (tenant_id: string, trace_id: string, limit: number): Promise<TraceRow[]> =>
    asTenant(db, tenant_id, (tx) => tx.query<TraceRow>(statements.tree, [tenant_id, trace_id, limit])),

  /** In the order of their starts. Runs whose start is not known are in no list. */
  search: (filter: RunListFilter, limits: SearchLimits): Promise<FoundRuns> => searchRuns(db, filter, limits),
});
