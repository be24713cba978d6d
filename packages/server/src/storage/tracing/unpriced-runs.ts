// Model calls with known model and tokens, whose cost was not sent.
import type { Database } from '../postgres/database.ts';
import { exactTime } from '../postgres/exact-text.ts';
import { asTenant } from '../postgres/tenant.ts';
import { namedArguments, namedStatement, statement } from '../postgres/statement.ts';

export interface UnpricedTraceRun {
  id: string;
  /** In its exact form. */
  model: string;
  start_time: string | null;
  /** JSON text. */
  metadata: string;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number;
  /** JSON text. */
  usage_details: string | null;
}

/** A trace run with computed costs, which are decimals. */
export interface PricedTraceRun extends UnpricedTraceRun {
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  /** JSON text: the usage details including cost details. */
  priced_details: string | null;
}

export const unpriced = statement<UnpricedTraceRun>(`select r.id, r.model,
      ${exactTime('r.start_time')} as start_time, r.metadata::text as metadata,
      r.prompt_tokens, r.completion_tokens, r.total_tokens, r.usage_details::text as usage_details
    from unnest($2::uuid[]) wanted
    cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
    cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
    where coalesce(r.run_type, 'llm') = 'llm' and r.model is not null and r.total_tokens is not null
      and r.prompt_cost is null and r.completion_cost is null and r.total_cost is null`);

const pricedColumns = [
  'id',
  'model',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'usage_details',
  'prompt_cost',
  'completion_cost',
  'total_cost',
  'priced_details',
] as const satisfies (keyof PricedTraceRun)[];

export const price = namedStatement(
  `select price_runs(${namedArguments(['tenant', ...pricedColumns])}) as count`,
);

export const unpricedRuns = (db: Database) => ({
  /** The unpriced trace runs among the given ids. */
  unpriced: (tenant_id: string, ids: string[]): Promise<UnpricedTraceRun[]> =>
    asTenant(db, tenant_id, (tx) => tx.query(unpriced, [tenant_id, ids])),

  /** Stores computed costs, except for trace runs whose model or usage has changed since they were read. */
  async price(tenant_id: string, runs: readonly PricedTraceRun[]): Promise<void> {
    const sorted = runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const columns = Object.fromEntries(pricedColumns.map((name) => [name, sorted.map((run) => run[name])]));
    const values = price.values({ tenant: tenant_id, ...columns });
    await asTenant(db, tenant_id, (tx) => tx.query(price, values));
  },
});
