// Builds commands to exporters from claimed partition runs and manifests.
import { type ExportField, exportFields, usualExportFields } from '@svc/contract';
import type { ClaimedManifest, ClaimedPartitionRun } from '../../storage/exports/export-leases.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import { parseFilter } from '../../tracing/filter/parse-filter.ts';
import type { ManifestCommand, PartitionRunCommand } from '../exporter/exporter-protocol.ts';
import { fileLimits } from '../parquet/export-file.ts';
import type { ExportLease, ExportTask } from '../../storage/exports/export-lease.ts';
import type { ExporterProcess } from './exporter-process.ts';

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

// One attempt of an export partition run or a manifest, in the server process: its exporter, and the reason for which it was stopped.
//
//   running ──stop()──▶ stopping ──outcome──────────────▶ ended
//                          └────── grace period over ──▶ the exporter is killed

/** `lease revoked`: the export has ended, or another worker has the lease; the outcome of the attempt is not saved. */
export type StopReason = 'lease revoked' | 'lease not renewed' | 'server stops';

/** Time in which an exporter aborts its upload; after it the exporter is killed. */
const graceMs = 5_000;

export class ExportAttempt implements ExportLease {
  readonly tenant_id: string;
  readonly id: string;
  readonly lease_token: number;
  readonly task: ExportTask;
  readonly export_id: string;
  /** Monotonic milliseconds. */
  readonly startedMs = performance.now();
  exporter: ExporterProcess | undefined;
  stopped: StopReason | undefined;
  #grace: NodeJS.Timeout | undefined;

  constructor(lease: ExportLease, export_id: string) {
    this.tenant_id = lease.tenant_id;
    this.id = lease.id;
    this.lease_token = lease.lease_token;
    this.task = lease.task;
    this.export_id = export_id;
  }

  get lease(): ExportLease {
    const { tenant_id, id, lease_token, task } = this;
    return { tenant_id, id, lease_token, task };
  }

  /** Stops the exporter. Later calls do nothing. */
  stop(reason: StopReason): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.exporter?.interrupt('now');
    this.#grace = setTimeout(
      () => this.exporter?.kill(`it did not stop within ${graceMs / 1_000} s`),
      graceMs,
    );
  }

  /** Stops the exporter after it has committed the file that it is writing. */
  stopAfterFile(): void {
    this.exporter?.interrupt('after the file');
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#grace);
  }
}
