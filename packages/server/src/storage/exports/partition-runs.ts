// Reads of export partition runs and events. On the wire a partition run is a run of the export.
import type { ExportEvent, ExportRunStatus } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { eventColumns, partitionRunColumns, partitionRunJoins, type PartitionRunRow } from './export-row.ts';
import { asTenant } from '../postgres/tenant.ts';
import { readStatement, statement } from '../postgres/statement.ts';

/** The partition runs of one export, or of all exports of a schedule. */
export type PartitionRunScope = { export_id: string } | { source_export_id: string };

export const existing = statement(`select from exports e where e.tenant_id = $1 and e.id = $2`);

export const statements = {
  find: readStatement<PartitionRunRow>(`select ${partitionRunColumns} from export_runs r ${partitionRunJoins}
      where r.tenant_id = $1 and r.export_id = $2 and r.id = $3`),
  events: readStatement<ExportEvent>(`select ${eventColumns} from export_events v
      where v.tenant_id = $1 and v.export_id = $2 and v.id > $3 order by v.id limit $4`),
};

/** The partition runs in a scope, which is a condition with the id `$2`. */
const listsOf = (scope: string) => {
  const conditions = `r.tenant_id = $1 and ${scope} and ($3::text[] is null or r.status = any ($3))`;
  return {
    count: statement<{ total: number }>(`select count(*) as total from export_runs r where ${conditions}`),
    page: statement<PartitionRunRow>(`select ${partitionRunColumns} from (
        select * from export_runs r where ${conditions} order by r.window_start, r.id limit $4 offset $5) r
      ${partitionRunJoins} order by r.window_start, r.id`),
  };
};

export const lists = {
  export: listsOf('r.export_id = $2'),
  // Finds the exports of the schedule first, then their partition runs.
  schedule: listsOf(
    'r.export_id in (select o.id from exports o where o.tenant_id = $1 and o.source_export_id = $2)',
  ),
};

export const partitionRunStorage = (db: Database) => ({
  /**
   * In the order of their partitions, with the total number that match. Returns no rows when `limit` is null and more than `unpagedMax`
   * match. Undefined when there is no such export.
   */
  list: (
    tenant_id: string,
    of: PartitionRunScope,
    statuses: ExportRunStatus[] | null,
    page: { limit: number | null; offset: number },
    unpagedMax: number,
  ): Promise<{ rows: PartitionRunRow[]; total: number } | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [list, id] =
        'export_id' in of
          ? ([lists.export, of.export_id] as const)
          : ([lists.schedule, of.source_export_id] as const);
      if ((await tx.query(existing, [tenant_id, id])).length === 0) return undefined;
      const values = [tenant_id, id, statuses];
      const [counted] = await tx.query(list.count, values);
      const total = counted?.total ?? 0;
      if (page.limit === null && total > unpagedMax) return { rows: [], total };
      const rows = await tx.query(list.page, [...values, page.limit ?? unpagedMax, page.offset]);
      return { rows, total };
    }),

  find: (tenant_id: string, export_id: string, id: string): Promise<PartitionRunRow | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.find, [tenant_id, export_id, id]);
      return row;
    }),

  /** Events after an id, oldest first. Undefined when there is no such export. */
  events: (
    tenant_id: string,
    export_id: string,
    after: number,
    limit: number,
  ): Promise<ExportEvent[] | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      if ((await tx.query(existing, [tenant_id, export_id])).length === 0) return undefined;
      return tx.query(statements.events, [tenant_id, export_id, after, limit]);
    }),
});
