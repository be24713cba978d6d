// Runs of models whose tokens and whose model are known by now, and whose cost nobody has said.
import type { Database } from './database.ts';
import { exactTime } from './exact-time.ts';
import { asTenant } from './tenant.ts';

export interface UnpricedRun {
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
  /** Of the newest that was said of it. */
  rank: number;
}

const unpriced = {
  name: 'traces_unpriced',
  text: `select r.id, r.model,
      ${exactTime('r.start_time')} as start_time, r.metadata::text as metadata,
      r.prompt_tokens, r.completion_tokens, r.total_tokens, r.usage_details::text as usage_details, r.rank
    from unnest($2::uuid[]) wanted
    cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted) d
    cross join lateral (select * from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day) r
    where r.run_type = 'llm' and r.model is not null and r.total_tokens is not null
      and r.prompt_cost is null and r.completion_cost is null and r.total_cost is null`,
};

export const unpricedRuns = (db: Database) => ({
  /** Those among these. */
  unpriced: (tenant_id: string, ids: string[]): Promise<UnpricedRun[]> =>
    asTenant(db, tenant_id, (tx) => tx.query<UnpricedRun>(unpriced, [tenant_id, ids])),
});
