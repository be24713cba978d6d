// One file of an export run: what goes into it, and what came of it.
import type { Compression, ExportField, FormatVersion } from '@svc/contract';
import type { RowPlace, RowScope } from '../../storage/exports/export-rows.ts';

export type { RowPlace, RowScope } from '../../storage/exports/export-rows.ts';

export interface FileShape {
  fields: readonly ExportField[];
  format_version: FormatVersion;
  compression: Compression;
}

export interface FileLimits {
  /** A file ends with the row that reaches it: raw bytes of rows. */
  fileBytes: number;
  rowGroupRows: number;
  rowGroupBytes: number;
  /** Of one page of rows read. */
  pageRows: number;
  pageBytes: number;
  /** Left free on the disk that the file is on. */
  freeBytes: number;
}

const mb = 1_024 ** 2;

/** Those of an export; with them a file of usual rows takes less than 512 MB of memory. */
export const fileLimits = (fileBytes: number, freeBytes = 0): FileLimits => ({
  fileBytes,
  freeBytes,
  rowGroupRows: 20_000,
  rowGroupBytes: 32 * mb,
  pageRows: 5_000,
  pageBytes: 32 * mb,
});

export interface FileCommand {
  scope: RowScope;
  shape: FileShape;
  limits: FileLimits;
  /** Rows after this one. */
  after: RowPlace | null;
  /** Up to and with this one, whatever the limits say; null: as far as they allow. */
  upTo: RowPlace | null;
  /** Where to write it; there is no file there yet. */
  path: string;
}

/** A file that was written and is durable on this machine. */
export interface WrittenFile {
  path: string;
  rows: number;
  bytes: number;
  raw_bytes: number;
  sha256: string;
  min_start_time: string;
  max_start_time: string;
  /** Of its last row. */
  last: RowPlace;
  /** No row follows it, for certain. */
  is_last: boolean;
}

/** Resolves with undefined, and leaves no file, when there is no row. Rejects when aborted, and leaves no file. */
export type WriteFile = (command: FileCommand, signal: AbortSignal) => Promise<WrittenFile | undefined>;
