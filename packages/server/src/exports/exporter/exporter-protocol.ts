// Messages between the server process and its exporter processes.
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';
import type { ExportLease } from '../../storage/exports/export-lease.ts';
import type { FailureCause } from '../../storage/exports/export-leases.ts';
import type { PendingFile } from '../../storage/exports/export-steps.ts';
import type { FallbackReason } from '../../storage/replica/fallback.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import type { StoreParts } from '../destinations/open-store.ts';
import type { AllowedHost } from '../../net/host-list.ts';
import type { FileLimits, FileShape, RowScope } from '../parquet/export-file.ts';

export interface ExporterSetup {
  database: DatabaseOptions;
  /** Undefined: rows are read from the database itself. */
  replica?: {
    database: DatabaseOptions;
    /** How long an attempt waits until the replica has all of its rows. */
    waitMs: number;
  };
  /** Options to open stores with. `allow`: hosts that the egress guard permits. */
  stores: Omit<StoreParts, 'guard'> & { allow: readonly AllowedHost[] };
}

interface Command {
  lease: ExportLease;
  export_id: string;
  /** Contains secrets in clear; it is sent over the channel only. */
  target: StoreTarget;
}

/** Continues an export partition run from its cursor. */
export interface PartitionRunCommand extends Command {
  kind: 'run';
  scope: RowScope;
  shape: FileShape;
  layout_version: LayoutVersion;
  limits: FileLimits;
  cursor: string | null;
  /** Number of committed files. */
  files: number;
  /** The file that an earlier attempt has begun and not committed. */
  pending_upload: PendingFile | null;
  /** Temporary folder of this command. The server process creates and removes it. */
  tempDir: string;
}

/** Writes the manifest of an export whose partition runs are completed. Times are ISO 8601 with microseconds. */
export interface ManifestCommand extends Command {
  kind: 'manifest';
  head: {
    session_id: string;
    start_time: string;
    end_time: string;
    filter: string | null;
    format_version: FormatVersion;
    layout_version: LayoutVersion;
    compression: string;
    fields: readonly string[];
    created_at: string;
    finished_at: string;
  };
}

export type ExportCommand = PartitionRunCommand | ManifestCommand;

/** `after the file`: the exporter commits the file that it is writing, and then stops. */
export type StopHow = 'now' | 'after the file';

export type ExportOutcome =
  /** Partition run: all rows are written. Manifest: the export is completed. */
  | { kind: 'done' }
  /** `message` is shown to users; `detail` is only logged. */
  | { kind: 'failed'; cause: FailureCause; message: string; detail: string }
  /** The lease belongs to another worker, or the export has ended. The exporter has changed nothing since. */
  | { kind: 'fenced' }
  | { kind: 'stopped' };

export interface WrittenFigures {
  rows: number;
  bytes: number;
  raw_bytes: number;
}

/** What an attempt has read from the replica, at its end. */
export interface ReplicaFigures {
  /** Number of pages. */
  reads: number;
  /** Why the attempt has continued on the primary; null when it has not. */
  fallback: FallbackReason | null;
}

export type ToExporter =
  | { kind: 'setup'; setup: ExporterSetup }
  | { kind: 'execute'; command: ExportCommand }
  | { kind: 'stop'; how: StopHow };

export type FromExporter =
  | { kind: 'ready' }
  | ({ kind: 'file' } & WrittenFigures)
  | ({ kind: 'replica' } & ReplicaFigures)
  | { kind: 'outcome'; outcome: ExportOutcome };

/** The lease belongs to another worker, or the task has ended. The exporter must not change anything more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}
