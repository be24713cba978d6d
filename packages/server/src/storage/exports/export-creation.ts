// Inserts exports: those of requests, and schedules.
import { randomUUID } from 'node:crypto';
import type { Database } from '../postgres/database.ts';
import type { ExportRow } from './export-row.ts';
import { namedStatement, statement } from '../postgres/statement.ts';

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

export const statements = {
  insert:
    namedStatement(`insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, filter, format_version, compression,
        export_fields, interval_hours, source_export_id, layout_version, status, next_window)
      values (:tenant_id, :id, :destination_id, :session_id, :window_start, :window_end, :filter, :format_version, :compression,
        :export_fields, :interval_hours, :source_export_id, :layout_version,
        case when :window_end::timestamptz is null then 'INTERVALSCHEDULED' else 'CREATED' end,
        case when :window_end::timestamptz is null then :window_start::timestamptz end)
      on conflict (tenant_id, source_export_id, window_start) where source_export_id is not null do nothing returning id`),
  insertRuns: statement(`insert into export_runs (tenant_id, id, export_id, window_start, window_end)
      select $1, p.id, $2, p.window_start, p.window_end
      from unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[]) p (id, window_start, window_end)`),
  created: statement(
    `select add_export_event($1, $2, 'created', null, $3), pg_notify('svc', 'x:' || $2::text)`,
  ),
};

/**
 * Inserts an export with one partition run per partition, records the event and sends a notification. Returns false without changes
 * when the window of its schedule has an export already.
 */
export const insertExport = async (
  tx: Database,
  newExport: NewExport,
  partitions: readonly Window[],
): Promise<boolean> => {
  const { tenant_id, id, interval_hours } = newExport;
  const inserted = await tx.query(statements.insert, statements.insert.values(newExport));
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
