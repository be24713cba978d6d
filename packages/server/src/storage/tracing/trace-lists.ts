// Lists of trace runs by id or by trace. Searches by time are in trace-search.ts.
import type { AnswerLimits } from '../postgres/answer-limits.ts';
import { boundedSql, readRuns, type TraceRunPage } from './bounded-trace-runs.ts';
import type { Statement, Transactions } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import type { PayloadColumn } from './trace-row.ts';
import {
  type FoundTraceRuns,
  type TraceRunListFilter,
  searchTraceRuns,
  type SearchLimits,
} from './trace-search.ts';

type Columns = ReadonlySet<PayloadColumn> | null;

const byIds = (columns: Columns): Statement => ({
  name: columns === null ? 'traces_by_ids' : '',
  text: boundedSql({
    runs: `select r.* from unnest($2::uuid[]) wanted
      cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
      cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
      order by r.start_time desc, r.id desc limit $3`,
    order: 'r.start_time desc, r.id desc',
    columns,
    bytesMax: '$4',
  }),
});

const tree: Statement = {
  name: 'traces_tree',
  text: boundedSql({
    runs: `select r.* from tenant_runs r
      where r.tenant_id = $1 and r.trace_id = $2 and (r.day = '-infinity' or r.day >= coalesce(
        (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = $2 and isfinite(d.day)), '1000-01-01') - 1)
      order by r.start_time, r.id limit $3`,
    order: 'r.start_time, r.id',
    columns: new Set(['error']),
    bytesMax: '$4',
  }),
};

export const traceLists = (db: Transactions, { pageBytes }: AnswerLimits) => ({
  listByIds: (tenant_id: string, ids: string[], columns: Columns): Promise<TraceRunPage> =>
    asTenant(db, tenant_id, (tx) => readRuns(tx, byIds(columns), [tenant_id, ids, ids.length, pageBytes])),

  /** All trace runs of a trace, without payloads except errors, ordered by start. */
  tree: (tenant_id: string, trace_id: string, limit: number): Promise<TraceRunPage> =>
    asTenant(db, tenant_id, (tx) => readRuns(tx, tree, [tenant_id, trace_id, limit, pageBytes])),

  /** Ordered by start. Trace runs without a start are in no list. */
  search: (filter: TraceRunListFilter, limits: SearchLimits): Promise<FoundTraceRuns> =>
    searchTraceRuns(db, filter, { ...limits, pageBytes }),
});
