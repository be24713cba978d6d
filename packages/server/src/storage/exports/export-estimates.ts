// Estimates how many trace runs an export would contain.
import type { Database } from '../postgres/database.ts';
import type { TraceRunCondition } from '../tracing/trace-condition.ts';
import { asTenant } from '../postgres/tenant.ts';
import { isTimeLimit } from '../postgres/sql-state.ts';
import type { Bind } from '../tracing/trace-condition-sql.ts';
import { scopeSql } from '../tracing/trace-scope.ts';

export interface EstimatedScope {
  tenant_id: string;
  session_id: string;
  /** End exclusive. */
  since: string;
  until: string;
  condition: TraceRunCondition | null;
}

/** Time limit of the exact count, since a selective filter may read many rows; after it, the planner's estimate is used. */
const countingMs = 5_000;

const toSql = (scope: EstimatedScope, bind: Bind): string => {
  const { tenant_id, session_id, since, until, condition } = scope;
  const { conditions } = scopeSql(
    {
      tenant_id,
      session_ids: [session_id],
      trace_id: null,
      is_root: null,
      since,
      until: null,
      filter: condition,
      trace_filter: null,
      tree_filter: null,
    },
    bind,
  );
  const day = (time: string): string => `(${bind(time)}::timestamptz at time zone 'utc')::date`;
  conditions.push(
    `r.start_time < ${bind(until)}`,
    `(r.day = '-infinity' or (r.day >= ${day(since)} and r.day <= ${day(until)}))`,
  );
  return `from tenant_runs r where ${conditions.join(' and ')}`;
};

/** Counts up to `exactMax + 1` rows; undefined when that exceeds the time limit. */
const count = async (db: Database, scope: EstimatedScope, exactMax: number): Promise<number | undefined> => {
  try {
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const text = `select count(*) as rows from (select ${toSql(scope, bind)} limit ${bind(exactMax + 1)}) r`;
    const [row] = await asTenant(db, scope.tenant_id, (tx) => tx.query<{ rows: number }>({ text }, values), {
      statementMs: countingMs,
    });
    return row?.rows ?? 0;
  } catch (error) {
    if (isTimeLimit(error)) return undefined;
    throw error;
  }
};

export const exportEstimates = (db: Database) => ({
  /** Exact up to `exactMax`; beyond that, the planner's estimate. */
  estimate: async (scope: EstimatedScope, exactMax: number): Promise<{ rows: number; is_exact: boolean }> => {
    const counted = await count(db, scope, exactMax);
    if (counted !== undefined && counted <= exactMax) return { rows: counted, is_exact: true };
    return asTenant(db, scope.tenant_id, async (tx) => {
      const values: unknown[] = [];
      const bind: Bind = (value) => `$${values.push(value)}`;
      const text = `explain (format json) select ${toSql(scope, bind)}`;
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>({ text }, values);
      const planned = Math.round(row?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0);
      // At least as many as were counted.
      return { rows: Math.max(planned, counted ?? 0), is_exact: false };
    });
  },
});
