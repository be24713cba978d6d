// The rows of exports and partition runs. Times are ISO 8601 in UTC with microseconds, which JavaScript's Date does not have:
// partitions must be adjacent to the microsecond.
import type {
  Compression,
  ExportProgress,
  ExportRunStatus,
  ExportStatus,
  FormatVersion,
  LayoutVersion,
} from '@svc/contract';
import { exactTime } from '../postgres/exact-text.ts';

export interface ExportRow {
  tenant_id: string;
  id: string;
  destination_id: string;
  session_id: string;
  window_start: string;
  /** Null for a schedule. */
  window_end: string | null;
  filter: string | null;
  format_version: FormatVersion;
  layout_version: LayoutVersion;
  compression: Compression;
  export_fields: string[] | null;
  interval_hours: number | null;
  source_export_id: string | null;
  status: ExportStatus;
  error: string | null;
  next_window: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Duration in seconds: from the start until the end, or until now. */
  seconds: number | null;
}

/** Sums over the partition runs of an export. */
export type ExportSums = Omit<ExportProgress, 'percent' | 'rows_per_second'> & {
  /** Fraction of the time span of all partition runs that is written; null when there are none. */
  done: number | null;
};

export interface PendingUpload {
  target_cursor: string;
  key: string;
  rows: number;
}

export interface PartitionRunRow {
  id: string;
  export_id: string;
  tenant_id: string;
  session_id: string;
  format_version: FormatVersion;
  layout_version: LayoutVersion;
  destination_type: string;
  /** JSON text. */
  destination_config: string;
  status: ExportRunStatus;
  retry_number: number;
  errors: Record<string, string>;
  window_start: string;
  window_end: string;
  cursor: string | null;
  rows_written: number;
  bytes_written: number;
  raw_bytes: number;
  pending_upload: PendingUpload | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  heartbeat_at: string | null;
  attempt_rows: number;
  /** Duration of the current or last attempt. */
  attempt_seconds: number | null;
  /** When the next attempt may start; null when none is scheduled. */
  next_retry_at: string | null;
  /** Keys of its files, in the order in which they were written. */
  keys: string[];
  /** Fraction of its time span that is written: 0 to 1. */
  done: number;
}

const times = (alias: string, columns: string[]): string =>
  columns.map((column) => `${exactTime(`${alias}.${column}`)} as ${column}`).join(', ');

const seconds = (interval: string): string => `extract(epoch from ${interval})::float8`;

/** The written part of a partition run's time span. */
const written = `case when r.status = 'COMPLETED' then r.window_end - r.window_start
  else greatest(interval '0', coalesce(export_cursor_time(r.cursor) - r.window_start, interval '0')) end`;

/** Columns of the export `e`. */
export const exportColumns = `e.tenant_id, e.id, e.destination_id, e.session_id, e.filter, e.format_version, e.layout_version, e.compression,
  e.export_fields, e.interval_hours, e.source_export_id, e.status, e.error,
  ${times('e', ['window_start', 'window_end', 'next_window', 'created_at', 'updated_at', 'started_at', 'finished_at'])},
  ${seconds(`coalesce(e.finished_at, now()) - e.started_at`)} as seconds`;

/** Columns of `exportSums`. */
export const sumColumns = `s.runs_total, s.runs_completed, s.runs_running, s.runs_failed, s.rows_written, s.bytes_written, s.raw_bytes,
  f.files, ${exactTime('s.heartbeat_at')} as heartbeat_at, s.done`;

/** Joined to the export `e`, with one index lookup per export of a page. The tenant is $1. */
export const exportSums = `cross join lateral (
    select count(*) as runs_total,
      count(*) filter (where r.status = 'COMPLETED') as runs_completed,
      count(*) filter (where r.status = 'RUNNING') as runs_running,
      count(*) filter (where r.status in ('FAILED', 'TIMEDOUT')) as runs_failed,
      coalesce(sum(r.rows_written), 0)::bigint as rows_written,
      coalesce(sum(r.bytes_written), 0)::bigint as bytes_written,
      coalesce(sum(r.raw_bytes), 0)::bigint as raw_bytes,
      max(r.heartbeat_at) as heartbeat_at,
      sum(${seconds(written)}) / sum(${seconds('r.window_end - r.window_start')}) as done
    from export_runs r where r.tenant_id = $1 and r.export_id = e.id) s
  cross join lateral (select count(*) as files from export_files f where f.tenant_id = $1 and f.export_id = e.id) f`;

/** Columns of the partition run `r`, its export `e` and the destination `d`. The tenant is $1. */
export const partitionRunColumns = `r.id, r.export_id, r.tenant_id, e.session_id, e.format_version, e.layout_version, d.destination_type,
  d.config as destination_config, r.status, r.retry_number, r.errors, r.cursor, r.rows_written, r.bytes_written, r.raw_bytes,
  r.pending_upload, r.attempt_rows,
  ${times('r', ['window_start', 'window_end', 'created_at', 'updated_at', 'started_at', 'finished_at', 'heartbeat_at'])},
  ${seconds(`coalesce(r.finished_at, now()) - r.attempt_at`)} as attempt_seconds,
  case when r.status = 'CREATED' and r.retry_number > 0 then ${exactTime('r.not_before')} end as next_retry_at,
  array(select f.key from export_files f where f.tenant_id = $1 and f.run_id = r.id order by f.number) as keys,
  ${seconds(written)} / ${seconds('r.window_end - r.window_start')} as done`;

export const partitionRunJoins = `join exports e on e.tenant_id = $1 and e.id = r.export_id
  join export_destinations d on d.tenant_id = $1 and d.id = e.destination_id`;

/** Columns of the event `v`. */
export const eventColumns = `v.id, ${exactTime('v.at')} as at, v.type, v.run_id, v.message`;
