// A run of an export (export partition run): the part of an export that covers one UTC day, its partition.
import * as z from 'zod';
import { Time } from '../json.ts';
import { ExportStatus } from './bulk-export.ts';

export const ExportRunStatus = ExportStatus.exclude(['INTERVALSCHEDULED']).meta({ id: 'ExportRunStatus' });
export type ExportRunStatus = z.output<typeof ExportRunStatus>;

export const ExportRunProgress = z
  .object({
    rows_written: z.int(),
    files: z.int(),
    bytes_written: z.int(),
    raw_bytes: z.int(),
    percent: z.number().describe('Progress within the time span of the partition'),
    rows_per_second: z.number().nullable().describe('In the current attempt'),
    heartbeat_at: Time.nullable(),
    attempt: z.int().describe('Number of the attempt, from 1'),
    next_retry_at: Time.nullable(),
  })
  .meta({ id: 'ExportRunProgress' });
export type ExportRunProgress = z.output<typeof ExportRunProgress>;

export const ExportRun = z
  .object({
    id: z.uuid(),
    bulk_export_id: z.uuid(),
    session_id: z.uuid(),
    status: ExportRunStatus,
    retry_number: z.int().describe('0 for the first attempt'),
    errors: z
      .record(z.string(), z.string())
      .nullable()
      .describe('Error of each failed attempt; `retry_0` is the first attempt'),
    created_at: Time,
    updated_at: Time,
    start_time: Time.nullable().describe('Start of the first attempt'),
    end_time: Time.nullable(),
    finished_at: Time.nullable(),
    metadata: z.object({
      prefix: z.string(),
      start_time: Time.describe('Start of the partition'),
      end_time: Time.describe('End of the partition, exclusive'),
      execution_backend: z.null(),
      result: z
        .object({
          rows_written: z.int(),
          exported_files: z.array(z.string()).describe('bucket/key'),
          export_path: z.string(),
          latest_cursor: z.string().nullable(),
          pending_upload: z
            .object({ target_cursor: z.string().nullable(), file_path: z.string(), rows_count: z.int() })
            .nullable(),
        })
        .nullable()
        .describe('Null until the first attempt starts'),
    }),
    progress: ExportRunProgress,
  })
  .meta({ id: 'ExportRun' });
export type ExportRun = z.output<typeof ExportRun>;
