// Reads a Parquet file with two independent readers; a file on which they differ is invalid.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { ParquetContents } from './parquet-contents.ts';
import { readWithDuckDB } from './read-with-duckdb.ts';
import { readWithHyparquet } from './read-with-hyparquet.ts';

/** Takes the path or the bytes of a file. Throws when a reader fails, or when the two differ. */
export const readParquet = async (source: string | Uint8Array): Promise<ParquetContents> => {
  if (typeof source === 'string') return readBoth(source, await readFile(source));
  const folder = await mkdtemp(join(tmpdir(), 'svc-parquet-'));
  try {
    const file = join(folder, 'file.parquet');
    await writeFile(file, source);
    return await readBoth(file, source);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const readBoth = async (file: string, bytes: Uint8Array): Promise<ParquetContents> => {
  const duckdb = await readWithDuckDB(file);
  compareContents(duckdb, await readWithHyparquet(bytes));
  return duckdb;
};

/** Throws an error that names the first difference. */
export const compareContents = (duckdb: ParquetContents, hyparquet: ParquetContents): void => {
  const compare = (what: string, one: unknown, other: unknown): void => {
    if (!isDeepStrictEqual(one, other))
      throw new Error(`${what}: DuckDB reads ${inspect(one)}, hyparquet ${inspect(other)}`);
  };
  const count = Math.max(duckdb.columns.length, hyparquet.columns.length);
  for (let at = 0; at < count; at += 1)
    compare(`Column ${at + 1} of the schema`, duckdb.columns[at], hyparquet.columns[at]);
  compare('Row groups', duckdb.rowGroups, hyparquet.rowGroups);
  compare('Codecs', duckdb.codecs, hyparquet.codecs);
  compare('Number of rows', duckdb.rows.length, hyparquet.rows.length);
  for (const [at, row] of duckdb.rows.entries()) compare(`Row ${at + 1}`, row, hyparquet.rows[at]);
};
