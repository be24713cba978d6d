// How many runs an export would hold.
import type { Database } from '../postgres/database.ts';
import type { RunCondition } from '../tracing/trace-condition.ts';
import { asTenant } from '../postgres/tenant.ts';
import { isTimeLimit } from '../postgres/time-limit.ts';
import type { Bind } from '../tracing/trace-conditions.ts';
import { scopeSql } from '../tracing/trace-scope.ts';

export interface EstimatedScope {
  tenant_id: string;
  session_id: string;
  /** End exclusive. */
  since: string;
  until: string;
  condition: RunCondition | null;
}

/** A filter that finds little may read much: then the planner has to do. Milliseconds. */
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

/** Undefined when it takes too long. */
const count = async (db: Database, scope: EstimatedScope, exactMax: number): Promise<number | undefined> => {
  try {
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const text = `select count(*) as rows from (select ${toSql(scope, bind)} limit ${bind(exactMax + 1)}) r`;
    const [row] = await asTenant(
      db,
      scope.tenant_id,
      (tx) => tx.query<{ rows: number }>({ name: '', text }, values),
      { statementMs: countingMs },
    );
    return row?.rows ?? 0;
  } catch (error) {
    if (isTimeLimit(error)) return undefined;
    throw error;
  }
};

export const exportEstimates = (db: Database) => ({
  /** Counted up to `exactMax`; beyond that, what the planner believes. */
  estimate: async (scope: EstimatedScope, exactMax: number): Promise<{ rows: number; is_exact: boolean }> => {
    const counted = await count(db, scope, exactMax);
    if (counted !== undefined && counted <= exactMax) return { rows: counted, is_exact: true };
    return asTenant(db, scope.tenant_id, async (tx) => {
      const values: unknown[] = [];
      const bind: Bind = (value) => `$${values.push(value)}`;
      const text = `explain (format json) select ${toSql(scope, bind)}`;
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
        { name: '', text },
        values,
      );
      const planned = Math.round(row?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0);
      // It cannot be fewer than were counted.
      return { rows: Math.max(planned, counted ?? 0), is_exact: false };
    });
  },
});
