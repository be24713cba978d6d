// Creates, finds, lists and cancels exports. Workers use export-leases.ts.
import type { ExportStatus } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { insertExport, type NewExport, type Window } from './export-creation.ts';
import { exportColumns, type ExportRow, exportSums, type ExportSums, sumColumns } from './export-row.ts';
import { asTenant } from '../postgres/tenant.ts';
import { readStatement, statement } from '../postgres/statement.ts';

export type FoundExport = ExportRow & ExportSums;

export interface ExportFilter {
  tenant_id: string;
  /** The first characters of an id, in lower case. */
  id_prefix: string | null;
  statuses: ExportStatus[] | null;
  session_id: string | null;
  destination_id: string | null;
  source_export_id: string | null;
  created_after: string | null;
  created_before: string | null;
}

/** Why an export was not created. */
export type Refusal = 'no destination' | 'no project' | 'too many';

export const statements = {
  // Serializes creations in a workspace, so that two of them cannot both take the last free place.
  lock: statement(`select pg_advisory_xact_lock(hashtextextended('exports of ' || $1, 0))`),
  // The share lock keeps the project from being deleted before the export refers to it.
  room: statement<{ active: number }>(`select (select count(*) from (select from exports e
        where e.tenant_id = $1 and e.status in ('CREATED', 'RUNNING', 'INTERVALSCHEDULED') limit $3) e) as active
      from projects p where p.tenant_id = $1 and p.id = $2 for key share`),
  // The share lock keeps the destination from being deleted before the export refers to it.
  destination: statement(`select id from export_destinations where tenant_id = $1 and id = $2 for key share`),
  find: readStatement<FoundExport>(
    `select ${exportColumns}, ${sumColumns} from exports e ${exportSums} where e.tenant_id = $1 and e.id = $2`,
  ),
  cancel: statement<{ status: ExportStatus | null }>(`select cancel_export($1, $2) as status`),
  manifest: readStatement<{ status: ExportStatus; manifest: string | null }>(
    `select status, manifest from exports where tenant_id = $1 and id = $2`,
  ),
  parts: readStatement<{
    has_project: boolean;
    has_destination: boolean;
  }>(`select exists (select from projects p where p.tenant_id = $1 and p.id = $2) as has_project,
      exists (select from export_destinations d where d.tenant_id = $1 and d.id = $3) as has_destination`),
};

const conditionsOf = (
  filter: ExportFilter,
): {
  source: string;
  conditions: string;
  values: unknown[];
  bind: (value: unknown) => string;
} => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const tenant = `e.tenant_id = ${bind(filter.tenant_id)}`;
  const conditions = [tenant];
  let source = 'exports';
  if (filter.id_prefix !== null) {
    const [first, last] = ['0', 'f'].map((digit) => bind(filledId(filter.id_prefix ?? '', digit)));
    // "offset 0" makes the planner read the range of ids from the primary key. Otherwise it may scan all exports of the
    // tenant in the order of created_at until it finds a match.
    source = `(select * from exports e where ${tenant} and e.id >= ${first} and e.id <= ${last} offset 0)`;
  }
  const add = (value: unknown, condition: (place: string) => string): void => {
    if (value === null) return;
    conditions.push(condition(bind(value)));
  };
  add(filter.statuses, (place) => `e.status = any (${place}::text[])`);
  add(filter.session_id, (place) => `e.session_id = ${place}`);
  add(filter.destination_id, (place) => `e.destination_id = ${place}`);
  add(filter.source_export_id, (place) => `e.source_export_id = ${place}`);
  add(filter.created_after, (place) => `e.created_at > ${place}`);
  add(filter.created_before, (place) => `e.created_at < ${place}`);
  return { source, conditions: conditions.join(' and '), values, bind };
};

/** The UUID that starts with the prefix and has this digit in all other positions. */
const filledId = (prefix: string, digit: string): string =>
  prefix + '00000000-0000-0000-0000-000000000000'.slice(prefix.length).replaceAll('0', digit);

export const exportStorage = (db: Database) => ({
  /** Creates the export with its partition runs, in one transaction. */
  create: (
    newExport: NewExport,
    partitions: readonly Window[],
    activeMax: number,
  ): Promise<Refusal | undefined> =>
    asTenant(db, newExport.tenant_id, async (tx) => {
      const { tenant_id, session_id, destination_id } = newExport;
      await tx.query(statements.lock, [tenant_id]);
      if ((await tx.query(statements.destination, [tenant_id, destination_id])).length === 0)
        return 'no destination';
      const [room] = await tx.query(statements.room, [tenant_id, session_id, activeMax]);
      if (room === undefined) return 'no project';
      if (room.active >= activeMax) return 'too many';
      await insertExport(tx, newExport, partitions);
      return undefined;
    }),

  /** Checks that the destination and the project exist. */
  check: (
    tenant_id: string,
    { destination_id, session_id }: Pick<NewExport, 'destination_id' | 'session_id'>,
  ): Promise<Exclude<Refusal, 'too many'> | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [found] = await tx.query(statements.parts, [tenant_id, session_id, destination_id]);
      if (found?.has_destination !== true) return 'no destination';
      return found.has_project ? undefined : 'no project';
    }),

  find: (tenant_id: string, id: string): Promise<FoundExport | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.find, [tenant_id, id]);
      return row;
    }),

  /** Newest first, with the total number that match. Returns no rows when `limit` is null and more than `unpagedMax` match. */
  list: (
    filter: ExportFilter,
    page: { limit: number | null; offset: number },
    unpagedMax: number,
  ): Promise<{ rows: FoundExport[]; total: number }> =>
    asTenant(db, filter.tenant_id, async (tx) => {
      const { source, conditions, values, bind } = conditionsOf(filter);
      const counting = statement<{ total: number }>(
        `select count(*) as total from ${source} e where ${conditions}`,
      );
      const [counted] = await tx.query(counting, values);
      const total = counted?.total ?? 0;
      if (page.limit === null && total > unpagedMax) return { rows: [], total };
      const listing = statement<FoundExport>(`select ${exportColumns}, ${sumColumns} from (
            select * from ${source} e where ${conditions} order by e.created_at desc, e.id desc
            limit ${bind(page.limit ?? unpagedMax)} offset ${bind(page.offset)}) e
          ${exportSums} order by e.created_at desc, e.id desc`);
      return { rows: await tx.query(listing, values), total };
    }),

  /** Cancels an export. Returns its previous status; undefined when there is no such export. */
  cancel: (tenant_id: string, id: string): Promise<ExportStatus | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.cancel, [tenant_id, id]);
      return row?.status ?? undefined;
    }),

  /** The manifest as JSON text; null until the export is complete. */
  manifest: (
    tenant_id: string,
    id: string,
  ): Promise<{ status: ExportStatus; manifest: string | null } | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query(statements.manifest, [tenant_id, id]);
      return row;
    }),
});
