// Writes and reads export files in a test.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportFields } from '@svc/contract';
import {
  fileLimits,
  type FileLimits,
  type FileCommand,
  type FileShape,
  type RowScope,
  type WrittenFile,
} from '../../src/exports/parquet/export-file.ts';
import { fileWriter } from '../../src/exports/parquet/write-file.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import type { ParquetContents } from '../s3/parquet-contents.ts';
import { readParquet } from '../s3/read-parquet.ts';

export const defaultLimits: FileLimits = fileLimits(100 * 1_024 ** 2);

export const defaultShape: FileShape = {
  fields: exportFields,
  format_version: 'v1',
  compression: 'zstandard',
};

/** A scope with all rows that are stored. */
export const scopeOf = (more: Pick<RowScope, 'tenant_id' | 'session_id'> & Partial<RowScope>): RowScope => ({
  since: '0001-01-01T00:00:00.000000Z',
  until: '9999-12-31T00:00:00.000000Z',
  inserted_until: '9999-12-31T00:00:00.000000Z',
  condition: null,
  ...more,
});

export interface ExportFolder extends AsyncDisposable {
  write(
    command: Partial<FileCommand> & Pick<FileCommand, 'scope'>,
    signal?: AbortSignal,
  ): Promise<WrittenFile | undefined>;
  /** Writes files one after the other until there are no more rows. */
  writeAll(command: Partial<FileCommand> & Pick<FileCommand, 'scope'>): Promise<WrittenFile[]>;
  read(file: WrittenFile): Promise<ParquetContents>;
  /** The names of all files in the folder. */
  names(): Promise<string[]>;
}

export const openFolder = async (db: Database): Promise<ExportFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'svc-export-'));
  const writeFile = fileWriter(db);
  const write: ExportFolder['write'] = (command, signal = new AbortController().signal) =>
    writeFile(
      {
        shape: defaultShape,
        limits: defaultLimits,
        after: null,
        upTo: null,
        path: join(path, `${randomUUID()}.parquet`),
        ...command,
      },
      signal,
    );
  return {
    write,
    async writeAll(command) {
      const files: WrittenFile[] = [];
      for (;;) {
        const file = await write({ ...command, after: files.at(-1)?.last ?? null });
        if (file === undefined) return files;
        files.push(file);
        if (file.is_last) return files;
      }
    },
    read: (file) => readParquet(file.path),
    names: () => readdir(path),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
};
