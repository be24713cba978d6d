// Input and result of writing one file of a partition run.
import type { Compression, ExportField, FormatVersion } from '@svc/contract';
import type { RowPlace, RowScope } from '../../storage/exports/export-rows.ts';

export type { RowPlace, RowScope } from '../../storage/exports/export-rows.ts';

export interface FileShape {
  fields: readonly ExportField[];
  format_version: FormatVersion;
  compression: Compression;
}

export interface FileLimits {
  /** A file ends with the row that reaches this size, in raw bytes of rows. */
  fileBytes: number;
  rowGroupRows: number;
  rowGroupBytes: number;
  /** Limits of one page of rows that is read. */
  pageRows: number;
  pageBytes: number;
  /** Free space to keep on the disk of the file. */
  freeBytes: number;
}

const mb = 1_024 ** 2;

/** The limits that exports use. With them, writing a file of ordinary rows needs less than 512 MB of memory. */
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
  /** The file begins after this row; null: at the first row. */
  after: RowPlace | null;
  /** The file ends with this row, regardless of `fileBytes`; null: with the row that reaches `fileBytes`. */
  upTo: RowPlace | null;
  /** Path of the file; it must not exist yet. */
  path: string;
}

/** A local file that is written and synced to disk. */
export interface WrittenFile {
  path: string;
  rows: number;
  bytes: number;
  raw_bytes: number;
  sha256: string;
  min_start_time: string;
  max_start_time: string;
  /** Position of the last row. */
  last: RowPlace;
  /** True when it is certain that no row follows. */
  is_last: boolean;
}

/** Resolves with undefined when there are no rows, and rejects when aborted. In both cases no file remains. */
export type WriteFile = (command: FileCommand, signal: AbortSignal) => Promise<WrittenFile | undefined>;
