// New exports: those that are asked for, and those that a schedule spawns.
import { randomUUID } from 'node:crypto';
import type { Database } from '../postgres/database.ts';
import type { ExportRow } from './export-row.ts';

/** A span of time, end exclusive: ISO 8601 with microseconds. */
export interface Window {
  start: string;
  end: string;
}

export type NewExport = Pick<
  ExportRow,
  | 'tenant_id'
  | 'id'
  | 'destination_id'
  | 'session_id'
  | 'window_start'
  | 'window_end'
  | 'filter'
  | 'format_version'
  | 'layout_version'
  | 'compression'
  | 'export_fields'
  | 'interval_hours'
  | 'source_export_id'
>;

const statements = {
  insert: {
    name: 'exports_insert',
    text: `insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, filter, format_version, compression,
        export_fields, interval_hours, source_export_id, layout_version, status, next_window)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, case when $6::timestamptz is null then 'INTERVALSCHEDULED' else 'CREATED' end,
        case when $6::timestamptz is null then $5::timestamptz end)
      on conflict (tenant_id, source_export_id, window_start) where source_export_id is not null do nothing returning id`,
  },
  insertRuns: {
    name: 'export_runs_insert',
    text: `insert into export_runs (tenant_id, id, export_id, window_start, window_end)
      select $1, p.id, $2, p.window_start, p.window_end
      from unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[]) p (id, window_start, window_end)`,
  },
  created: {
    name: 'exports_created_event',
    text: `select add_export_event($1, $2, 'created', null, $3), pg_notify('svc', 'x:' || $2::text)`,
  },
};

/**
 * Inserts an export with a run for each partition, says so, and rings. False, and nothing is done, when the window of its schedule
 * has an export already.
 */
export const insertExport = async (
  tx: Database,
  made: NewExport,
  partitions: readonly Window[],
): Promise<boolean> => {
  const { tenant_id, id, interval_hours } = made;
  const inserted = await tx.query(statements.insert, [
    tenant_id,
    id,
    made.destination_id,
    made.session_id,
    made.window_start,
    made.window_end,
    made.filter,
    made.format_version,
    made.compression,
    made.export_fields,
    interval_hours,
    made.source_export_id,
    made.layout_version,
  ]);
  if (inserted.length === 0) return false;
  if (partitions.length > 0)
    await tx.query(statements.insertRuns, [
      tenant_id,
      id,
      partitions.map(() => randomUUID()),
      partitions.map(({ start }) => start),
      partitions.map(({ end }) => end),
    ]);
  const runs = `${partitions.length} export ${partitions.length === 1 ? 'run' : 'runs'}`;
  const message = interval_hours === null ? `Made with ${runs}` : `Made: an export every ${interval_hours} h`;
  await tx.query(statements.created, [tenant_id, id, message]);
  return true;
};
