// Messages between the server process and its exporter processes.
import type { FormatVersion, LayoutVersion } from '@svc/contract';
import type { DatabaseOptions } from '../../storage/postgres/database.ts';
import type { ExportLease } from '../../storage/exports/export-lease.ts';
import type { FailureCause } from '../../storage/exports/export-leases.ts';
import type { PendingFile } from '../../storage/exports/export-steps.ts';
import type { StoreTarget } from '../destinations/store-target.ts';
import type { StoreParts } from '../destinations/open-store.ts';
import type { AllowedHost } from '../../net/host-list.ts';
import type { FileLimits, FileShape, RowScope } from '../parquet/export-file.ts';

export interface ExporterSetup {
  database: DatabaseOptions;
  /** What stores are opened with; `allow` is what their guard lets through. */
  surroundings: Omit<StoreParts, 'guard'> & { allow: readonly AllowedHost[] };
}

interface Command {
  lease: ExportLease;
  export_id: string;
  /** With its secrets: sent over the channel only. */
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
  /** Files that are written. */
  files: number;
  /** What an attempt before this one has begun. */
  pending_upload: PendingFile | null;
  /** A folder for this command; the server process removes it. */
  tempDir: string;
}

/** Of an export whose runs are completed. Times are ISO 8601 with microseconds. */
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

/** `after the file`: the one at hand is finished first. */
export type StopHow = 'now' | 'after the file';

export type ExportOutcome =
  /** Of a run: nothing is left to write. Of a manifest: the export is completed. */
  | { kind: 'done' }
  /** `detail` is for the log alone. */
  | { kind: 'failed'; cause: FailureCause; message: string; detail: string }
  /** The lease is somebody else's, or the export is over: nothing more was touched. */
  | { kind: 'fenced' }
  | { kind: 'stopped' };

export interface WrittenFigures {
  rows: number;
  bytes: number;
  raw_bytes: number;
}

export type ToExporter =
  | { kind: 'setup'; setup: ExporterSetup }
  | { kind: 'execute'; command: ExportCommand }
  | { kind: 'stop'; how: StopHow };

export type FromExporter =
  | { kind: 'ready' }
  | ({ kind: 'file' } & WrittenFigures)
  | { kind: 'outcome'; outcome: ExportOutcome };
