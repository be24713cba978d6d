// Which runs are meant: what lists, counts and sums of runs are made of.
import type { RunCondition } from './trace-condition.ts';
import { type Bind, conditionSql } from './trace-conditions.ts';

export interface RunScope {
  tenant_id: string;
  session_ids: string[] | null;
  /** Also runs whose project is not known yet. */
  or_no_session?: boolean;
  trace_id: string | null;
  is_root: boolean | null;
  /** Not before, and not after. */
  since: string | null;
  until: string | null;
  /** Of the run itself. */
  filter: RunCondition | null;
  /** Of the root of its trace. */
  trace_filter: RunCondition | null;
  /** Of any run of its trace. */
  tree_filter: RunCondition | null;
}

export interface ScopeSql {
  /** Its place in the statement. */
  tenant: string;
  /** What else is read for each run; most often empty. */
  joins: string;
  conditions: string[];
  shape: string | undefined;
}

/**
 * Only the conditions that are asked for, so that each combination is a statement with a plan of its own. `shape` names
 * the combination; undefined when there is no end of them. The run is `r`.
 */
export const scopeSql = (scope: RunScope, bind: Bind): ScopeSql => {
  const { session_ids, trace_id, is_root, since, until, filter, trace_filter, tree_filter } = scope;
  const tenant = bind(scope.tenant_id);
  let shape = '';
  const conditions = [`r.tenant_id = ${tenant}`];
  const add = (name: string, condition: string): void => {
    shape += name;
    conditions.push(condition);
  };
  if (session_ids && scope.or_no_session)
    add('o', `(r.session_id = any (${bind(session_ids)}::uuid[]) or r.session_id is null)`);
  else if (session_ids?.length === 1) add('p', `r.session_id = ${bind(session_ids[0])}`);
  else if (session_ids) add('q', `r.session_id = any (${bind(session_ids)}::uuid[])`);
  if (trace_id !== null) add('t', `r.trace_id = ${bind(trace_id)}`);
  if (is_root !== null) add(is_root ? 'r' : 'c', `r.parent_run_id is ${is_root ? '' : 'not '}null`);
  if (since !== null) add('s', `r.start_time >= ${bind(since)}`);
  if (until !== null) add('u', `r.start_time <= ${bind(until)}`);
  if (filter) conditions.push(conditionSql(filter, bind, 'r'));
  const joins = [
    ...(trace_filter ? [rootSql(trace_filter, tenant, bind)] : []),
    ...(tree_filter ? [treeSql(tree_filter, tenant, bind)] : []),
  ];
  return {
    tenant,
    joins: joins.join(' '),
    conditions,
    shape: filter || trace_filter || tree_filter ? undefined : shape,
  };
};

// Look-ups for each run, in the order of the list, which ends early; not conditions, since of joins PostgreSQL remembers what it found for
// the other runs of the trace. The limits keep it from turning them around: it would read whole days first.
const rootSql = (condition: RunCondition, tenant: string, bind: Bind): string => `cross join lateral (
    select from trace_run_days d
    cross join lateral (select from tenant_runs root where root.tenant_id = ${tenant} and root.id = d.id and root.day = d.day
      and ${conditionSql(condition, bind, 'root')} limit 1) found
    where d.tenant_id = ${tenant} and d.id = r.trace_id limit 1) root`;

const treeSql = (condition: RunCondition, tenant: string, bind: Bind): string => `cross join lateral (
    select from (select coalesce(
      (select d.day from trace_run_days d where d.tenant_id = ${tenant} and d.id = r.trace_id and isfinite(d.day)), '1000-01-01') as day offset 0) d
    cross join lateral (select from tenant_runs t where t.tenant_id = ${tenant} and t.trace_id = r.trace_id
      and (t.day = '-infinity' or t.day >= d.day - 1) and ${conditionSql(condition, bind, 't')} limit 1) found limit 1) tree`;
