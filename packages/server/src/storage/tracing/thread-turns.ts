// Turns of threads: the roots that have the id of a thread.
import type { Transactions } from '../postgres/database.ts';
import { exactTime, fromExactText, toExactText } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { type TraceRunScope, scopeSql } from './trace-scope.ts';
import { statement } from '../postgres/statement.ts';

export interface ThreadExtent {
  threads: number;
  turns: number;
  first_start_time: string | null;
  last_start_time: string | null;
  last_end_time: string | null;
}

const inThread = 'r.thread_id is not null and r.start_time is not null';

export const numbers = statement<{ id: string; turn: number }>(`select id, turn from (
      select r.id, row_number() over (order by r.start_time, r.id) as turn from tenant_runs r
      where r.tenant_id = $1 and r.session_id = $2 and r.thread_id = $3 and r.parent_run_id is null and r.start_time is not null) turns
    where id = any ($4::uuid[])`);

const partsOf = (scope: TraceRunScope): { values: unknown[]; from: string } => {
  const values: unknown[] = [];
  const { joins, conditions } = scopeSql(scope, (value) => `$${values.push(value)}`);
  return { values, from: `from tenant_runs r ${joins} where ${conditions.join(' and ')} and ${inThread}` };
};

export const threadTurns = (db: Transactions) => ({
  /** Counts the trace runs of a scope that belong to threads. */
  threadExtent: (scope: TraceRunScope): Promise<ThreadExtent> =>
    asTenant(db, scope.tenant_id, async (tx) => {
      const { values, from } = partsOf(scope);
      const text = `select count(distinct r.thread_id) as threads, count(*) as turns, ${exactTime('min(r.start_time)')} as first_start_time,
        ${exactTime('max(r.start_time)')} as last_start_time, ${exactTime('max(r.end_time)')} as last_end_time ${from}`;
      const [row] = await tx.query<ThreadExtent>({ text }, values);
      if (row === undefined) throw new Error('The statement returned no row');
      return row;
    }),

  /** Ids of the threads with a trace run in the scope, the one with the newest trace run first. `total` counts all of them. */
  newestThreads: (
    scope: TraceRunScope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<{ ids: string[]; total: number }> =>
    asTenant(db, scope.tenant_id, async (tx) => {
      const { values, from } = partsOf(scope);
      const text = `with threads as (select r.thread_id, max(r.start_time) as newest ${from} group by r.thread_id)
        select (select count(*) from threads) as total, array(select thread_id from threads
          order by newest desc, thread_id limit $${values.push(limit)} offset $${values.push(offset)}) as ids`;
      const [row] = await tx.query<{ ids: string[]; total: number }>({ text }, values);
      if (row === undefined) throw new Error('The statement returned no row');
      return { ids: row.ids.map(fromExactText), total: row.total };
    }),

  /** Positions of these turns in the whole thread, from 1, by id of the root. */
  turnNumbers: (
    tenant_id: string,
    session_id: string,
    thread_id: string,
    ids: string[],
  ): Promise<Map<string, number>> =>
    asTenant(db, tenant_id, async (tx) => {
      const values = [tenant_id, session_id, toExactText(thread_id), ids];
      const rows = await tx.query(numbers, values);
      return new Map(rows.map(({ id, turn }) => [id, turn]));
    }),
});
