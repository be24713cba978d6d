// The scope of lists, counts and sums of trace runs, as SQL.
import type { TraceRunCondition } from './trace-condition.ts';
import { type Bind, conditionSql } from './trace-condition-sql.ts';

export interface TraceRunScope {
  tenant_id: string;
  session_ids: string[] | null;
  /** Also matches trace runs whose project is not known yet. */
  or_no_session?: boolean;
  trace_id: string | null;
  is_root: boolean | null;
  /** Earliest and latest start, both inclusive. */
  since: string | null;
  until: string | null;
  /** Condition on the trace run itself. */
  filter: TraceRunCondition | null;
  /** Condition on the root of its trace. */
  trace_filter: TraceRunCondition | null;
  /** Condition that at least one trace run of its trace must meet. */
  tree_filter: TraceRunCondition | null;
}

export interface ScopeSql {
  /** Placeholder of the tenant's id. */
  tenant: string;
  /** Lookups for each trace run; usually empty. */
  joins: string;
  conditions: string[];
  /** It has no filter. Filters are unlimited in number, so a statement with one is rarely repeated. */
  isPlain: boolean;
}

/**
 * Contains only the requested conditions, so that each combination is a statement with a plan of its own. The trace run is `r`.
 */
export const scopeSql = (scope: TraceRunScope, bind: Bind): ScopeSql => {
  const { session_ids, trace_id, is_root, since, until, filter, trace_filter, tree_filter } = scope;
  const tenant = bind(scope.tenant_id);
  const conditions = [`r.tenant_id = ${tenant}`];
  if (session_ids && scope.or_no_session)
    conditions.push(`(r.session_id = any (${bind(session_ids)}::uuid[]) or r.session_id is null)`);
  else if (session_ids?.length === 1) conditions.push(`r.session_id = ${bind(session_ids[0])}`);
  else if (session_ids) conditions.push(`r.session_id = any (${bind(session_ids)}::uuid[])`);
  if (trace_id !== null) conditions.push(`r.trace_id = ${bind(trace_id)}`);
  if (is_root !== null) conditions.push(`r.parent_run_id is ${is_root ? '' : 'not '}null`);
  if (since !== null) conditions.push(`r.start_time >= ${bind(since)}`);
  if (until !== null) conditions.push(`r.start_time <= ${bind(until)}`);
  if (filter) conditions.push(conditionSql(filter, bind, 'r'));
  const joins = [
    ...(trace_filter ? [rootSql(trace_filter, tenant, bind)] : []),
    ...(tree_filter ? [treeSql(tree_filter, tenant, bind)] : []),
  ];
  return {
    tenant,
    joins: joins.join(' '),
    conditions,
    isPlain: !filter && !trace_filter && !tree_filter,
  };
};

// Lookups per trace run, in the order of the list, which ends early. They are joins instead of conditions, because PostgreSQL caches the
// result of a join for other trace runs of the same trace. The limits keep the planner from reversing the joins, which would read
// whole days first.
const rootSql = (condition: TraceRunCondition, tenant: string, bind: Bind): string => `cross join lateral (
    select from trace_run_days d
    cross join lateral (select from tenant_runs root where root.tenant_id = ${tenant} and root.id = d.id and root.day = d.day
      and ${conditionSql(condition, bind, 'root')} limit 1) found
    where d.tenant_id = ${tenant} and d.id = r.trace_id limit 1) root`;

const treeSql = (condition: TraceRunCondition, tenant: string, bind: Bind): string => `cross join lateral (
    select from (select coalesce(
      (select d.day from trace_run_days d where d.tenant_id = ${tenant} and d.id = r.trace_id and isfinite(d.day)), '1000-01-01') as day offset 0) d
    cross join lateral (select from tenant_runs t where t.tenant_id = ${tenant} and t.trace_id = r.trace_id
      and (t.day = '-infinity' or t.day >= d.day - 1) and ${conditionSql(condition, bind, 't')} limit 1) found limit 1) tree`;
