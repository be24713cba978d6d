// Builds commands to exporters from claimed partition runs and manifests.
import { type ExportField, exportFields, usualExportFields } from '@svc/contract';
import type { ClaimedManifest, ClaimedPartitionRun } from '../../storage/exports/export-leases.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import { parseFilter } from '../../tracing/filter/parse-filter.ts';
import type { ManifestCommand, PartitionRunCommand } from '../exporter/exporter-protocol.ts';
import { fileLimits } from '../parquet/export-file.ts';

const fieldsOf = ({ export_fields }: ClaimedPartitionRun['export']): readonly ExportField[] => {
  if (export_fields === null) return usualExportFields;
  const requested = new Set(export_fields);
  return exportFields.filter((field) => requested.has(field));
};

export const toPartitionRunCommand = (
  claimed: ClaimedPartitionRun,
  target: StoreTarget,
  { tempDir, fileBytes, freeBytes }: { tempDir: string; fileBytes: number; freeBytes: number },
): PartitionRunCommand => {
  const { lease, export: of, cursor, files, pending_upload, window_start, window_end } = claimed;
  return {
    kind: 'run',
    lease,
    export_id: of.id,
    target,
    scope: {
      tenant_id: of.tenant_id,
      session_id: of.session_id,
      since: window_start,
      until: window_end,
      inserted_until: of.created_at,
      // The filter is valid: it was parsed when the export was created.
      condition: of.filter === null ? null : parseFilter(of.filter),
    },
    shape: {
      fields: fieldsOf(of),
      format_version: of.format_version,
      compression: of.compression,
    },
    layout_version: of.layout_version,
    limits: fileLimits(fileBytes, freeBytes),
    cursor,
    files,
    pending_upload,
    tempDir,
  };
};

export const toManifestCommand = (
  { lease, export: of, completing_at }: ClaimedManifest,
  target: StoreTarget,
): ManifestCommand => ({
  kind: 'manifest',
  lease,
  export_id: of.id,
  target,
  head: {
    session_id: of.session_id,
    start_time: of.window_start,
    end_time: of.window_end ?? of.window_start,
    filter: of.filter,
    format_version: of.format_version,
    layout_version: of.layout_version,
    compression: of.compression,
    fields: fieldsOf(of),
    created_at: of.created_at,
    finished_at: completing_at,
  },
});
