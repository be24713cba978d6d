// Writes one file of a partition run: reads rows from the database page by page, and writes them to a Parquet file.
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Transactions } from '../../storage/postgres/database.ts';
import { checkFree } from '../destinations/disk-space.ts';
import { exportRows, type ExportPage } from '../../storage/exports/export-rows.ts';
import type { FileCommand, RowPlace, WriteFile, WrittenFile } from './export-file.ts';
import { fileColumns } from './file-schema.ts';
import { ParquetFile } from './parquet-file.ts';

type Pages = ReturnType<typeof exportRows>;

interface Gathered {
  rows: number;
  raw_bytes: number;
  starts: ExportPage['starts'];
  last: RowPlace | null;
  is_last: boolean;
}

/** Compares times as strings: all are ISO 8601 in UTC with the same number of digits. */
const spanning = (one: Gathered['starts'], other: Gathered['starts']): Gathered['starts'] =>
  one && other
    ? {
        min: one.min < other.min ? one.min : other.min,
        max: one.max > other.max ? one.max : other.max,
      }
    : (one ?? other);

/** Adds rows until the file is full or no row follows. */
const gather = async (
  pages: Pages,
  file: ParquetFile,
  { scope, shape, limits, after, upTo, path }: FileCommand,
  signal: AbortSignal,
): Promise<Gathered> => {
  const gathered: Gathered = { rows: 0, raw_bytes: 0, starts: null, last: null, is_last: false };
  let next: RowPlace | null = after;
  for (;;) {
    const room = upTo === null ? limits.fileBytes - gathered.raw_bytes : limits.pageBytes;
    const page: ExportPage = await pages.page(
      {
        scope,
        fields: shape.fields,
        after: next,
        upTo,
        limits: { rows: limits.pageRows, bytes: Math.min(limits.pageBytes, room) },
      },
      (row) => file.add(row),
      signal,
    );
    // Appended rows may be spilled to the same disk, and the file will need about as much.
    await checkTempDisk(path, gathered.raw_bytes + page.raw_bytes, limits.freeBytes);
    gathered.rows += page.rows;
    gathered.raw_bytes += page.raw_bytes;
    gathered.starts = spanning(gathered.starts, page.starts);
    gathered.last = page.last ?? gathered.last;
    next = page.next;
    const isFull = upTo === null && gathered.raw_bytes >= limits.fileBytes;
    if (next !== null && !isFull) continue;
    gathered.is_last = upTo === null && next === null;
    return gathered;
  }
};

const checkTempDisk = (path: string, bytes: number, freeBytes: number): Promise<void> =>
  checkFree(dirname(path), bytes, freeBytes, 'The disk for temporary files of the server');

/** Syncs the file to disk, and computes its size and hash. */
const syncAndHash = async (path: string, signal: AbortSignal): Promise<{ bytes: number; sha256: string }> => {
  await using handle = await open(path, 'r+');
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(1_024 ** 2);
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(piece, 0, piece.length, bytes);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  await handle.sync();
  return { bytes, sha256: hash.digest('hex') };
};

export const fileWriter = (db: Transactions): WriteFile => {
  const pages = exportRows(db);
  return async (command, signal) => {
    const { path, shape, limits } = command;
    try {
      return await write();
    } catch (error) {
      await rm(path, { force: true });
      throw signal.aborted ? signal.reason : error;
    }

    async function write(): Promise<WrittenFile | undefined> {
      signal.throwIfAborted();
      await checkTempDisk(path, 0, limits.freeBytes);
      await using file = await ParquetFile.create({
        path,
        columns: fileColumns(shape.fields, shape.format_version),
        compression: shape.compression,
        rowGroup: { rows: limits.rowGroupRows, bytes: limits.rowGroupBytes },
      });
      const { rows, raw_bytes, starts, last, is_last } = await gather(pages, file, command, signal);
      if (starts === null || last === null) return undefined;
      await file.write(signal);
      const digest = await syncAndHash(path, signal);
      return {
        path,
        rows,
        ...digest,
        raw_bytes,
        min_start_time: starts.min,
        max_start_time: starts.max,
        last,
        is_last,
      };
    }
  };
};
