// The JSON form of exports and partition runs in responses, including the spelling of statuses. No other file builds it.
import { type BulkExport, type ExportRun, type ExportRunStatus, type ExportStatus } from '@svc/contract';
import type { PartitionRunRow } from '../../storage/exports/export-row.ts';
import type { FoundExport } from '../../storage/exports/exports.ts';
import { microsOf, timeOfMicros } from '../../api/time.ts';
import { partitionFolder, prefixOf, rootOf } from '../exporter/layout.ts';

export interface WireRules {
  /** Spells statuses as stock clients expect them: `TimedOut` instead of `TIMEDOUT`. */
  compat: boolean;
  /** Delay between the end of a window of a schedule and its export. */
  scheduleLagMs: number;
  /** The folder against which relative paths of destinations are resolved. */
  fileRoot: string;
}

const stockSpellings: Readonly<Record<ExportStatus, string>> = {
  CREATED: 'Created',
  RUNNING: 'Running',
  COMPLETED: 'Completed',
  FAILED: 'Failed',
  CANCELLED: 'Cancelled',
  TIMEDOUT: 'TimedOut',
  INTERVALSCHEDULED: 'IntervalScheduled',
};

const spelled = <S extends ExportStatus | ExportRunStatus>(status: S, compat: boolean): S =>
  (compat ? stockSpellings[status] : status) as S;

/** 100 only when the work is done. */
const percentOf = (done: number | null, isDone: boolean): number =>
  isDone ? 100 : Math.min(99.99, Math.floor((done ?? 0) * 10_000) / 100);

const rateOf = (rows: number, seconds: number | null): number | null =>
  seconds === null || seconds <= 0 ? null : Math.round(rows / seconds);

export const toWireExport = (row: FoundExport, rules: WireRules): BulkExport => ({
  id: row.id,
  tenant_id: row.tenant_id,
  bulk_export_destination_id: row.destination_id,
  session_id: row.session_id,
  all_experiments: false,
  start_time: row.window_start,
  end_time: row.window_end,
  filter: row.filter,
  format: 'Parquet',
  format_version: row.format_version,
  layout_version: row.layout_version,
  compression: row.compression,
  interval_hours: row.interval_hours,
  export_fields: row.export_fields,
  source_bulk_export_id: row.source_export_id,
  status: spelled(row.status, rules.compat),
  error: row.error,
  created_at: row.created_at,
  updated_at: row.updated_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  next_export_at: nextExportAt(row, rules),
  notice: noticeOf(row),
  progress: {
    runs_total: row.runs_total,
    runs_completed: row.runs_completed,
    runs_running: row.runs_running,
    runs_failed: row.runs_failed,
    rows_written: row.rows_written,
    files: row.files,
    bytes_written: row.bytes_written,
    raw_bytes: row.raw_bytes,
    percent: percentOf(row.done, row.status === 'COMPLETED'),
    rows_per_second: rateOf(row.rows_written, row.seconds),
    heartbeat_at: row.heartbeat_at,
  },
});

/** Exports read what is stored when they run. A schedule waits for the end of each window. */
const noticeOf = ({ interval_hours, window_end, created_at }: FoundExport): string | null =>
  interval_hours !== null || window_end === null || Date.parse(window_end) <= Date.parse(created_at)
    ? null
    : `The window ends at ${window_end}, after the export was created: trace runs that arrive later are not in it.`;

const nextExportAt = (row: FoundExport, { scheduleLagMs }: WireRules): string | null => {
  if (row.status !== 'INTERVALSCHEDULED' || row.next_window === null || row.interval_hours === null)
    return null;
  const ms = BigInt(row.interval_hours * 3_600_000 + scheduleLagMs);
  return timeOfMicros(microsOf(row.next_window) + ms * 1_000n);
};

export const toWireRun = (row: PartitionRunRow, { compat, fileRoot }: WireRules): ExportRun => {
  const { id, export_id, tenant_id, session_id, format_version, layout_version, window_start } = row;
  const destination = {
    destination_type: row.destination_type,
    config: JSON.parse(row.destination_config) as Record<string, unknown>,
  };
  const pathOf = (key: string): string => `${rootOf(destination, fileRoot)}/${key}`;
  const { pending_upload: pending } = row;
  const folder = partitionFolder({
    export_id,
    tenant_id,
    session_id,
    format_version,
    layout_version,
    start: window_start,
  });
  return {
    id,
    bulk_export_id: export_id,
    session_id,
    status: spelled(row.status, compat),
    retry_number: row.retry_number,
    errors: Object.keys(row.errors).length === 0 ? null : row.errors,
    created_at: row.created_at,
    updated_at: row.updated_at,
    start_time: row.started_at,
    end_time: row.finished_at,
    finished_at: row.finished_at,
    metadata: {
      prefix: prefixOf(destination),
      start_time: window_start,
      end_time: row.window_end,
      execution_backend: null,
      // Stock clients treat null as "not started".
      result:
        row.started_at === null
          ? null
          : {
              rows_written: row.rows_written,
              exported_files: row.keys.map(pathOf),
              export_path: pathOf(folder),
              latest_cursor: row.cursor,
              pending_upload: pending && {
                target_cursor: pending.target_cursor,
                file_path: pathOf(pending.key),
                rows_count: pending.rows,
              },
            },
    },
    progress: {
      rows_written: row.rows_written,
      files: row.keys.length,
      bytes_written: row.bytes_written,
      raw_bytes: row.raw_bytes,
      percent: percentOf(row.done, row.status === 'COMPLETED'),
      rows_per_second: rateOf(row.attempt_rows, row.attempt_seconds),
      heartbeat_at: row.heartbeat_at,
      attempt: row.retry_number + 1,
      next_retry_at: row.next_retry_at,
    },
  };
};
