// The manifest, which is the last file of an export and lists all others.
import * as z from 'zod';
import { Time } from '../json.ts';
import { Compression, FormatVersion, LayoutVersion } from './bulk-export.ts';

export const ExportManifest = z
  .object({
    version: z.literal(1),
    export_id: z.uuid(),
    tenant_id: z.uuid(),
    session_ids: z.array(z.uuid()),
    start_time: Time,
    end_time: Time,
    filter: z.string().nullable(),
    format_version: FormatVersion,
    layout_version: LayoutVersion,
    compression: Compression,
    fields: z.array(z.string()),
    created_at: Time,
    finished_at: Time,
    rows: z.int(),
    bytes: z.int(),
    files: z.array(
      z.object({
        key: z.string(),
        rows: z.int(),
        bytes: z.int(),
        sha256: z.string(),
        min_start_time: Time,
        max_start_time: Time,
        partition: z.object({ start_time: Time, end_time: Time }),
      }),
    ),
  })
  .meta({
    id: 'ExportManifest',
    description: 'Lists all files of an export; written after all of them',
  });
export type ExportManifest = z.output<typeof ExportManifest>;
