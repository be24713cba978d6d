// Finds the OpenTelemetry trace ids of trace runs that were ingested over OTLP.
import type { Database } from '../postgres/database.ts';
import { asTenant } from '../postgres/tenant.ts';
import { statement } from '../postgres/statement.ts';

/** Metadata key of the OpenTelemetry trace id. */
export const otelTraceKey = 'otel.trace_id';

const idsMax = 10_000;

export const find = statement<{
  id: string;
  trace: string;
}>(`select r.id, r.metadata ->> '${otelTraceKey}' as trace from unnest($2::uuid[]) wanted
    cross join lateral (select d.day from trace_run_days d where d.tenant_id = $1 and d.id = wanted offset 0) d
    cross join lateral (
      select r.id, r.metadata from tenant_runs r where r.tenant_id = $1 and r.id = wanted and r.day = d.day offset 0) r
    where r.metadata ? '${otelTraceKey}'`);

/** The plan is cached while the tables grow, so sequential scans are turned off from the start. */
export const byIndex = statement(`select set_config('enable_seqscan', 'off', true)`);

export const otelTraces = (db: Database) => ({
  /** OpenTelemetry trace ids by trace run id. Trace runs that do not exist or have none are left out. */
  async otelTracesOf(tenant_id: string, run_ids: string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (let at = 0; at < run_ids.length; at += idsMax) {
      const values = [tenant_id, run_ids.slice(at, at + idsMax)];
      const rows = await asTenant(db, tenant_id, async (tx) => {
        await tx.query(byIndex, []);
        return tx.query(find, values);
      });
      for (const { id, trace } of rows) found.set(id, trace);
    }
    return found;
  },
});
