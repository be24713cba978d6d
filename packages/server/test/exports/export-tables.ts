// Objects that exports refer to, inserted into the database directly, and queries of the tables.
import { randomUUID } from 'node:crypto';
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import type { Database } from '../../src/storage/postgres/database.ts';
import { exportStorage } from '../../src/storage/exports/exports.ts';
import { partitionsOf } from '../../src/exports/api/export-request.ts';

export const sql = <Row = Record<string, unknown>>(
  db: Database,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => db.query<Row>({ text }, values);

export interface Place {
  tenant_id: string;
  session_id: string;
  destination_id: string;
}

/** A workspace with a project and a destination in a folder. */
export const newPlace = async (db: Database, path = '/nowhere'): Promise<Place> => {
  const place = { tenant_id: randomUUID(), session_id: randomUUID(), destination_id: randomUUID() };
  const { tenant_id, session_id, destination_id } = place;
  await sql(db, `insert into workspaces (id, display_name) values ($1, 'w')`, [tenant_id]);
  await sql(db, `insert into projects (tenant_id, id, name) values ($1, $2, 'p')`, [tenant_id, session_id]);
  await sql(
    db,
    `insert into export_destinations (tenant_id, id, destination_type, display_name, config) values ($1, $2, 'file', 'd', $3)`,
    [tenant_id, destination_id, JSON.stringify({ path })],
  );
  return place;
};

/** The start of the exports of tests. */
export const firstDay = '2026-03-01T00:00:00.000000Z';

/** Inserts an export of the given number of days from then on. Returns its id. */
export const newExport = async (
  db: Database,
  place: Place,
  {
    days = 1,
    hours = days * 24,
    interval_hours = null,
    start = firstDay,
    format_version = 'v1',
    layout_version = 2,
  }: {
    days?: number;
    hours?: number;
    interval_hours?: number | null;
    start?: string;
    format_version?: FormatVersion;
    layout_version?: LayoutVersion;
  } = {},
): Promise<string> => {
  const id = randomUUID();
  const end = new Date(Date.parse(start) + hours * 3_600_000).toISOString().replace('Z', '000Z');
  const refusal = await exportStorage(db).create(
    {
      ...place,
      id,
      window_start: start,
      window_end: interval_hours === null ? end : null,
      filter: null,
      format_version,
      layout_version,
      compression: 'zstandard',
      export_fields: null,
      interval_hours,
      source_export_id: null,
    },
    interval_hours === null ? partitionsOf({ start, end }) : [],
    10_000,
  );
  if (refusal !== undefined) throw new Error(refusal);
  return id;
};

export interface RunState {
  id: string;
  export_id: string;
  status: string;
  retry_number: number;
  reclaims: number;
  lease_token: number;
  errors: Record<string, string>;
  rows_written: number;
}

export const runsOf = (db: Database, export_id: string): Promise<RunState[]> =>
  sql<RunState>(
    db,
    `select id, export_id, status, retry_number, reclaims, lease_token, errors, rows_written from export_runs
      where export_id = $1 order by window_start`,
    [export_id],
  );

export const statusOf = async (db: Database, export_id: string): Promise<string | undefined> =>
  (await sql<{ status: string }>(db, 'select status from exports where id = $1', [export_id]))[0]?.status;

export const eventsOf = async (db: Database, export_id: string): Promise<string[]> =>
  (
    await sql<{ type: string }>(db, 'select type from export_events where export_id = $1 order by id', [
      export_id,
    ])
  ).map(({ type }) => type);
