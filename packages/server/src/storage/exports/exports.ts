// Creates, finds, lists and cancels exports. Workers use export-leases.ts.
import type { ExportStatus } from '@svc/contract';
import type { Database } from '../postgres/database.ts';
import { insertExport, type NewExport, type Window } from './export-creation.ts';
import { exportColumns, type ExportRow, exportSums, type ExportSums, sumColumns } from './export-row.ts';
import { asTenant } from '../postgres/tenant.ts';

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

const statements = {
  // Serializes creations in a workspace, so that two of them cannot both take the last free place.
  lock: {
    name: 'exports_lock_creation',
    text: `select pg_advisory_xact_lock(hashtextextended('exports of ' || $1, 0))`,
  },
  // The share lock keeps the project from being deleted before the export refers to it.
  room: {
    name: 'exports_room',
    text: `select (select count(*) from (select from exports e
        where e.tenant_id = $1 and e.status in ('CREATED', 'RUNNING', 'INTERVALSCHEDULED') limit $3) e) as active
      from projects p where p.tenant_id = $1 and p.id = $2 for key share`,
  },
  // The share lock keeps the destination from being deleted before the export refers to it.
  destination: {
    name: 'exports_lock_destination',
    text: `select id from export_destinations where tenant_id = $1 and id = $2 for key share`,
  },
  find: {
    name: 'exports_find',
    text: `select ${exportColumns}, ${sumColumns} from exports e ${exportSums} where e.tenant_id = $1 and e.id = $2`,
    reads: true,
  },
  cancel: { name: 'exports_cancel', text: `select cancel_export($1, $2) as status` },
  manifest: {
    name: 'exports_manifest',
    text: `select status, manifest from exports where tenant_id = $1 and id = $2`,
    reads: true,
  },
  parts: {
    name: 'exports_parts',
    text: `select exists (select from projects p where p.tenant_id = $1 and p.id = $2) as has_project,
      exists (select from export_destinations d where d.tenant_id = $1 and d.id = $3) as has_destination`,
    reads: true,
  },
};

const conditionsOf = (
  filter: ExportFilter,
): {
  source: string;
  conditions: string;
  values: unknown[];
  bind: (value: unknown) => string;
  variant: string;
} => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const tenant = `e.tenant_id = ${bind(filter.tenant_id)}`;
  const conditions = [tenant];
  let source = 'exports';
  let variant = '';
  if (filter.id_prefix !== null) {
    const [first, last] = ['0', 'f'].map((digit) => bind(filledId(filter.id_prefix ?? '', digit)));
    variant = 'i';
    // "offset 0" makes the planner read the range of ids from the primary key. Otherwise it may scan all exports of the
    // tenant in the order of created_at until it finds a match.
    source = `(select * from exports e where ${tenant} and e.id >= ${first} and e.id <= ${last} offset 0)`;
  }
  const add = (name: string, value: unknown, condition: (place: string) => string): void => {
    if (value === null) return;
    variant += name;
    conditions.push(condition(bind(value)));
  };
  add('s', filter.statuses, (place) => `e.status = any (${place}::text[])`);
  add('p', filter.session_id, (place) => `e.session_id = ${place}`);
  add('d', filter.destination_id, (place) => `e.destination_id = ${place}`);
  add('o', filter.source_export_id, (place) => `e.source_export_id = ${place}`);
  add('a', filter.created_after, (place) => `e.created_at > ${place}`);
  add('b', filter.created_before, (place) => `e.created_at < ${place}`);
  return { source, conditions: conditions.join(' and '), values, bind, variant };
};

/** The UUID that starts with the prefix and has this digit in all other positions. */
const filledId = (prefix: string, digit: string): string =>
  prefix + '00000000-0000-0000-0000-000000000000'.slice(prefix.length).replaceAll('0', digit);

export type ExportStorage = ReturnType<typeof exportStorage>;

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
      const [room] = await tx.query<{ active: number }>(statements.room, [tenant_id, session_id, activeMax]);
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
      const [found] = await tx.query<{ has_project: boolean; has_destination: boolean }>(statements.parts, [
        tenant_id,
        session_id,
        destination_id,
      ]);
      if (found?.has_destination !== true) return 'no destination';
      return found.has_project ? undefined : 'no project';
    }),

  find: (tenant_id: string, id: string): Promise<FoundExport | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<FoundExport>(statements.find, [tenant_id, id]);
      return row;
    }),

  /** Newest first, with the total number that match. Returns no rows when `limit` is null and more than `unpagedMax` match. */
  list: (
    filter: ExportFilter,
    page: { limit: number | null; offset: number },
    unpagedMax: number,
  ): Promise<{ rows: FoundExport[]; total: number }> =>
    asTenant(db, filter.tenant_id, async (tx) => {
      const { source, conditions, values, bind, variant } = conditionsOf(filter);
      const counting = {
        name: `exports_count_${variant}`,
        text: `select count(*) as total from ${source} e where ${conditions}`,
      };
      const [counted] = await tx.query<{ total: number }>(counting, values);
      const total = counted?.total ?? 0;
      if (page.limit === null && total > unpagedMax) return { rows: [], total };
      const listing = {
        name: `exports_list_${variant}`,
        text: `select ${exportColumns}, ${sumColumns} from (
            select * from ${source} e where ${conditions} order by e.created_at desc, e.id desc
            limit ${bind(page.limit ?? unpagedMax)} offset ${bind(page.offset)}) e
          ${exportSums} order by e.created_at desc, e.id desc`,
      };
      return { rows: await tx.query<FoundExport>(listing, values), total };
    }),

  /** Cancels an export. Returns its previous status; undefined when there is no such export. */
  cancel: (tenant_id: string, id: string): Promise<ExportStatus | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<{ status: ExportStatus | null }>(statements.cancel, [tenant_id, id]);
      return row?.status ?? undefined;
    }),

  /** The manifest as JSON text; null until the export is complete. */
  manifest: (
    tenant_id: string,
    id: string,
  ): Promise<{ status: ExportStatus; manifest: string | null } | undefined> =>
    asTenant(db, tenant_id, async (tx) => {
      const [row] = await tx.query<{ status: ExportStatus; manifest: string | null }>(statements.manifest, [
        tenant_id,
        id,
      ]);
      return row;
    }),
});
