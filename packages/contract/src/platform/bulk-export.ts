// Requests for exports, and exports.
import * as z from 'zod';
import { Id, nullish, Time, When } from '../json.ts';
import { exportFields } from './export-fields.ts';

export const exportStatuses = [
  'CREATED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMEDOUT',
  'INTERVALSCHEDULED',
] as const;

export const ExportStatus = z.enum(exportStatuses).meta({
  id: 'ExportStatus',
  description:
    'INTERVALSCHEDULED is a schedule. In a project of stock spellings: Created, Running, TimedOut, …',
});
export type ExportStatus = z.output<typeof ExportStatus>;

export const Compression = z.enum(['none', 'gzip', 'snappy', 'zstandard']).meta({ id: 'Compression' });
export type Compression = z.output<typeof Compression>;

export const FormatVersion = z.enum(['v1', 'v2_beta']).meta({
  id: 'FormatVersion',
  description: 'v2_beta: times with a time zone, and lists as lists',
});
export type FormatVersion = z.output<typeof FormatVersion>;

export const LayoutVersion = z.literal([1, 2]).meta({
  id: 'LayoutVersion',
  description:
    'The folders of an export. 2: no folder key has the name of a column, so Hive partitioning reads them',
});
export type LayoutVersion = z.output<typeof LayoutVersion>;

export const ExportCreate = z
  .strictObject({
    bulk_export_destination_id: Id,
    session_id: Id.describe('The project'),
    all_experiments: nullish(z.literal(false, 'there are no experiments here: name a project in session_id')),
    start_time: When.describe('Only trace runs that started at this time or later'),
    end_time: nullish(When).describe(
      'Only trace runs that started before this time, which is later than `start_time`. Required without `interval_hours`',
    ),
    filter: nullish(z.string().min(1).max(16_384)).describe('In the language of /runs/query'),
    format: nullish(z.literal('Parquet')),
    format_version: nullish(FormatVersion),
    layout_version: nullish(LayoutVersion).describe('2 when absent'),
    compression: nullish(Compression),
    interval_hours: nullish(z.int().min(1).max(168)).describe(
      'Repeats the export; such an export is a schedule',
    ),
    export_fields: nullish(
      z
        .array(z.enum(exportFields))
        .min(1)
        .refine((fields) => new Set(fields).size === fields.length, 'names a field twice')
        .meta({ uniqueItems: true }),
    ).describe('The default fields when absent'),
  })
  .meta({ id: 'ExportCreate' });
export type ExportCreate = z.output<typeof ExportCreate>;

export const ExportProgress = z
  .object({
    runs_total: z.int(),
    runs_completed: z.int(),
    runs_running: z.int(),
    runs_failed: z.int(),
    rows_written: z.int(),
    files: z.int(),
    bytes_written: z.int().describe('Of the files'),
    raw_bytes: z.int().describe('Of the rows, before they were compressed'),
    percent: z.number().describe('Of the time span'),
    rows_per_second: z.number().nullable().describe('Since it started'),
    heartbeat_at: Time.nullable().describe('When one of its workers last renewed its lease'),
  })
  .meta({ id: 'ExportProgress' });
export type ExportProgress = z.output<typeof ExportProgress>;

export const BulkExport = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    bulk_export_destination_id: z.uuid(),
    session_id: z.uuid(),
    all_experiments: z.literal(false),
    start_time: Time,
    end_time: Time.nullable(),
    filter: z.string().nullable(),
    format: z.literal('Parquet'),
    format_version: FormatVersion,
    layout_version: LayoutVersion,
    compression: Compression,
    interval_hours: z.int().nullable(),
    export_fields: z.array(z.string()).nullable().describe('Null means the default fields'),
    source_bulk_export_id: z.uuid().nullable().describe('The schedule that created the export'),
    status: ExportStatus,
    error: z.string().nullable().describe('The reason of a failure'),
    created_at: Time,
    updated_at: Time,
    started_at: Time.nullable(),
    finished_at: Time.nullable(),
    next_export_at: Time.nullable().describe('Only for a schedule'),
    notice: z.string().nullable().describe('Set when the window was not over when the export was created'),
    progress: ExportProgress,
  })
  .meta({ id: 'BulkExport' });
export type BulkExport = z.output<typeof BulkExport>;

export const ExportPlan = z
  .object({
    partitions: z.array(z.object({ start_time: Time, end_time: Time })),
    estimated_rows: z
      .int()
      .describe('Counted up to 100,000 rows; an estimate beyond, and where counting takes too long'),
    is_exact: z.boolean(),
  })
  .meta({ id: 'ExportPlan', description: 'What an export would do' });
export type ExportPlan = z.output<typeof ExportPlan>;

export const exportEventTypes = [
  'created',
  'started',
  'claimed',
  'file_written',
  'retry',
  'requeued',
  'run_completed',
  'run_failed',
  'completed',
  'failed',
  'cancelled',
  'timed_out',
  'spawned',
  'paused',
] as const;

export const ExportEvent = z
  .object({
    id: z.int(),
    at: Time,
    type: z.enum(exportEventTypes),
    run_id: z.uuid().nullable(),
    message: z.string(),
  })
  .meta({ id: 'ExportEvent' });
export type ExportEvent = z.output<typeof ExportEvent>;
