// Writes one Parquet file with DuckDB: rows are appended to a table, which DuckDB spills to disk when it is large, and one COPY statement
// writes the file.
//
// DuckDB is limited to one thread and a few hundred megabytes. Two measures keep that limit:
// - One data chunk is reused. A new chunk for each batch would be freed only when JavaScript collects garbage.
// - The appender is flushed often. By default it keeps up to 200,000 rows in memory.
import {
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { rm } from 'node:fs/promises';
import type { Compression } from '@svc/contract';
import { onAbort } from '../../abort.ts';
import type { RowBytes } from '../../storage/postgres/copy-out.ts';
import { exportColumns } from '../../storage/exports/export-columns.ts';
import { exportKeyColumns } from '../../storage/exports/export-rows.ts';
import { mayBeExact } from './cells.ts';
import { type Cell, chunkRows, type ColumnWriter, columnWriter } from './column-writer.ts';
import type { FileColumn } from './file-schema.ts';

export interface RowGroupLimits {
  rows: number;
  /** Size of rows as PostgreSQL sends them. A group has at least 2,048 rows, even when they are larger. */
  bytes: number;
}

export interface ParquetFileOptions {
  path: string;
  columns: readonly FileColumn[];
  compression: Compression;
  rowGroup: RowGroupLimits;
}

const mb = 1_024 ** 2;
/** DuckDB's memory limit while rows are appended. The COPY gets more when rows are large. */
const memoryMb = 256;
/** DuckDB holds a row group several times: as rows, as pages and compressed. */
const copiesOfGroup = 4;
const chunkBytes = 8 * mb;
const flushBytes = 8 * mb;

const codecs: Readonly<Record<Compression, string>> = {
  none: 'compression uncompressed',
  gzip: 'compression gzip',
  snappy: 'compression snappy',
  zstandard: 'compression zstd, compression_level 3',
};

const quoted = (text: string, mark: string): string => mark + text.replaceAll(mark, mark + mark) + mark;

export class ParquetFile implements AsyncDisposable {
  readonly #options: ParquetFileOptions;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #appender: DuckDBAppender;
  readonly #chunk: DuckDBDataChunk;
  readonly #writers: ColumnWriter[];
  /** Index of each column's first value in a row. */
  readonly #indexes: number[] = [];
  readonly #cell: Cell;
  #rows = 0;
  #chunkBytes = 0;
  #unflushed = 0;
  #bytes = 0;
  /** Bytes of each block of 2,048 rows. */
  readonly #blocks: number[] = [];
  #total = 0;

  private constructor(
    options: ParquetFileOptions,
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    appender: DuckDBAppender,
  ) {
    this.#options = options;
    this.#instance = instance;
    this.#connection = connection;
    this.#appender = appender;
    const { columns } = options;
    this.#chunk = DuckDBDataChunk.create(columns.map((column) => column.type));
    const raw = this.#chunk.chunk;
    this.#writers = columns.map((column, index) =>
      columnWriter(column, duckdb.data_chunk_get_vector(raw, index)),
    );
    let at = exportKeyColumns;
    for (const { name } of columns) {
      this.#indexes.push(at);
      at += exportColumns[name].sql.length;
    }
    const none = { bytes: Buffer.alloc(0), ends: new Int32Array(0), lengths: new Int32Array(0) };
    this.#cell = { row: none, index: 0, isExact: false };
  }

  static async create(options: ParquetFileOptions): Promise<ParquetFile> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '1',
      memory_limit: `${memoryMb}MiB`,
      temp_directory: spillOf(options.path),
      preserve_insertion_order: 'true',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    try {
      const connection = await instance.connect();
      const columns = options.columns.map(({ name, type }) => `${quoted(name, '"')} ${type.toString()}`);
      await connection.run(`create table rows_of_file (${columns.join(', ')})`);
      const appender = await connection.createAppender('rows_of_file');
      return new ParquetFile(options, instance, connection, appender);
    } catch (error) {
      instance.closeSync();
      throw error;
    }
  }

  add(row: RowBytes): void {
    const cell = this.#cell;
    cell.row = row;
    cell.isExact = mayBeExact(row.bytes);
    for (let column = 0; column < this.#writers.length; column++) {
      cell.index = this.#indexes[column] ?? 0;
      this.#writers[column]?.put(cell, this.#rows);
    }
    const block = Math.floor(this.#total++ / chunkRows);
    this.#blocks[block] = (this.#blocks[block] ?? 0) + row.bytes.length;
    this.#rows++;
    this.#bytes += row.bytes.length;
    this.#chunkBytes += row.bytes.length;
    if (this.#rows === chunkRows || this.#chunkBytes >= chunkBytes) this.#appendChunk();
  }

  #appendChunk(): void {
    if (this.#rows === 0) return;
    for (const writer of this.#writers) writer.flush(this.#rows);
    this.#chunk.rowCount = this.#rows;
    this.#appender.appendDataChunk(this.#chunk);
    this.#chunk.reset();
    this.#unflushed += this.#chunkBytes;
    if (this.#unflushed >= flushBytes) {
      this.#appender.flushSync();
      this.#unflushed = 0;
    }
    this.#rows = 0;
    this.#chunkBytes = 0;
  }

  /** Writes the file. An abort interrupts DuckDB. */
  async write(signal: AbortSignal): Promise<void> {
    const { path, compression, rowGroup } = this.#options;
    const groupRows = rowsOfGroup(this.#blocks, rowGroup);
    const longest = longestGroup(this.#blocks, groupRows / chunkRows);
    const limitMb = Math.max(memoryMb, Math.ceil((this.#bytes + copiesOfGroup * longest) / mb) + 32);
    await this.#connection.run(`set memory_limit = '${limitMb}MiB'`);
    this.#appendChunk();
    this.#appender.closeSync();
    signal.throwIfAborted();
    const stopWaiting = onAbort(signal, () => this.#connection.interrupt());
    try {
      await this.#connection.run(
        `copy rows_of_file to ${quoted(path, "'")} (format parquet, ${codecs[compression]}, row_group_size ${groupRows})`,
      );
      signal.throwIfAborted();
    } finally {
      stopWaiting();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
    await rm(spillOf(this.#options.path), { recursive: true, force: true });
  }
}

const spillOf = (path: string): string => `${path}.spill`;

/** Bytes of the largest row group when each has `count` blocks. */
const longestGroup = (blocks: readonly number[], count: number): number => {
  let longest = 0;
  for (let at = 0; at < blocks.length; at += count) {
    const bytes = blocks.slice(at, at + count).reduce((sum, block) => sum + block, 0);
    longest = Math.max(longest, bytes);
  }
  return longest;
};

/**
 * The largest number of rows per group, a multiple of 2,048, with which no group exceeds the limits. DuckDB's own limit in bytes
 * (`row_group_size_bytes`) requires `preserve_insertion_order = false`, which loses the order of rows.
 */
const rowsOfGroup = (blocks: readonly number[], limits: RowGroupLimits): number => {
  let count = Math.max(1, Math.floor(limits.rows / chunkRows));
  while (count > 1 && longestGroup(blocks, count) > limits.bytes) count--;
  return count * chunkRows;
};
