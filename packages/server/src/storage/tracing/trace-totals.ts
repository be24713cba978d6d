// Totals of a trace for its root: each token of a model is counted once, and every cost.
import type { Transactions } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { statement } from '../postgres/statement.ts';
import { costColumns, costSums, tokenColumns } from './trace-run-sums.ts';
import type { TraceRunRow } from './trace-row.ts';

export const totalColumns = [...tokenColumns, ...costColumns];

/** Tokens are null when no trace run has any, likewise costs. `first_token_time`: the earliest of the trace. */
export type TraceTotals = Pick<TraceRunRow, (typeof totalColumns)[number] | 'first_token_time'> & {
  trace_id: string;
};

/** A model call nested in another one (a wrapper) is not counted, since the outer one includes it. */
const isCounted = `r.run_type = 'llm' and not exists (select from tenant_runs p
  where p.tenant_id = $1 and p.id = r.parent_run_id and p.trace_id = r.trace_id and p.run_type = 'llm'
    and p.total_tokens is not null and p.day in (r.day, r.day - 1, '-infinity') offset 0)`;

const tokens = tokenColumns.map(
  (column) =>
    `case when count(${column}) filter (where is_counted) > 0 then token_sum(sum(${column}) filter (where is_counted)) end as ${column}`,
);

export const ofTraces =
  statement<TraceTotals>(`select trace_id, ${[...tokens, costSums].join(', ')}, ${exactTime('min(first_token_time)')} as first_token_time
    from (select r.trace_id, r.run_type, r.prompt_tokens, r.completion_tokens, r.total_tokens, r.prompt_cost, r.completion_cost,
        r.total_cost, r.first_token_time, ${isCounted} as is_counted
      from tenant_runs r where r.tenant_id = $1 and r.trace_id = any ($2::uuid[])
        and (r.total_tokens is not null or r.total_cost is not null or r.prompt_cost is not null or r.completion_cost is not null
          or r.first_token_time is not null)
        and (r.day = '-infinity' or $3::timestamptz is null or r.day >= ($3 at time zone 'utc')::date - 1)) runs
    group by trace_id`);

export const traceTotals = (db: Transactions) => ({
  /** Totals of the traces that have any. `since`: start of the earliest trace; null when unknown. */
  totalsOf: (tenant_id: string, trace_ids: string[], since: string | null): Promise<TraceTotals[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(ofTraces, [tenant_id, trace_ids, since])),
});
