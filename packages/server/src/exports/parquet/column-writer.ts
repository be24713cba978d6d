// Writes the values of one column to the chunk of rows that is appended to DuckDB's table next.
import duckdb, { type Vector } from '@duckdb/node-bindings';
import type { RowBytes } from '../../storage/postgres/copy-out.ts';
import { microsAt } from '../../storage/exports/export-rows.ts';
import { ancestorIds, exactBytes, exactJsonBytes, extraBytes, metadataBytes, textsOf } from './cells.ts';
import type { FileColumn } from './file-schema.ts';

/** DuckDB's vector size. */
export const chunkRows = 2_048;

/** Position of a value in a row in PostgreSQL's binary COPY format. */
export interface Cell {
  row: RowBytes;
  index: number;
  /** True when texts of the row may be in the exact form. */
  isExact: boolean;
}

export interface ColumnWriter {
  put(cell: Cell, at: number): void;
  /** Called before the chunk is appended. The next `put` belongs to the next chunk. */
  flush(rows: number): void;
}

const bytesOf = ({ row, index }: Cell): Buffer | null => {
  const length = row.lengths[index] ?? -1;
  const end = row.ends[index] ?? 0;
  return length < 0 ? null : row.bytes.subarray(end - length, end);
};

/** Bitmap of the rows that are not null. */
class Validity {
  readonly #bits = new Uint8Array(chunkRows / 8).fill(0xff);
  #hasNull = false;

  setNull(at: number): void {
    this.#hasNull = true;
    this.#bits[at >> 3] = (this.#bits[at >> 3] ?? 0) & ~(1 << (at & 7));
  }

  flush(vector: Vector): void {
    if (!this.#hasNull) return;
    duckdb.vector_ensure_validity_writable(vector);
    duckdb.copy_data_to_vector_validity(vector, 0, this.#bits.buffer, 0, this.#bits.length);
    this.#bits.fill(0xff);
    this.#hasNull = false;
  }
}

const textWriter = (vector: Vector, read: (cell: Cell) => Buffer | null): ColumnWriter => {
  const validity = new Validity();
  return {
    put(cell, at) {
      const bytes = read(cell);
      if (bytes === null) validity.setNull(at);
      else duckdb.vector_assign_string_element_len(vector, at, bytes);
    },
    flush: () => validity.flush(vector),
  };
};

/** Writes values of fixed width through a typed array, which is copied into the vector. */
const fixedWriter = (
  vector: Vector,
  values: BigInt64Array | Float64Array | Uint8Array,
  read: (cell: Cell, at: number) => void,
): ColumnWriter => {
  const validity = new Validity();
  return {
    put(cell, at) {
      if ((cell.row.lengths[cell.index] ?? -1) < 0) validity.setNull(at);
      else read(cell, at);
    },
    flush(rows) {
      const bytes = rows * values.BYTES_PER_ELEMENT;
      duckdb.copy_data_to_vector(vector, 0, values.buffer as ArrayBuffer, 0, bytes);
      validity.flush(vector);
    },
  };
};

const listWriter = (vector: Vector, read: (cell: Cell) => string[]): ColumnWriter => {
  /** Offset and length of the list of each row. */
  const spans = new BigUint64Array(chunkRows * 2);
  const items: string[] = [];
  return {
    put(cell, at) {
      const list = read(cell);
      spans[at * 2] = BigInt(items.length);
      spans[at * 2 + 1] = BigInt(list.length);
      for (const item of list) items.push(item);
    },
    flush(rows) {
      duckdb.list_vector_reserve(vector, items.length);
      duckdb.list_vector_set_size(vector, items.length);
      const child = duckdb.list_vector_get_child(vector);
      items.forEach((item, index) =>
        duckdb.vector_assign_string_element_len(child, index, Buffer.from(item)),
      );
      duckdb.copy_data_to_vector(vector, 0, spans.buffer, 0, rows * 16);
      items.length = 0;
    },
  };
};

const startOf = ({ row, index }: Cell): number => (row.ends[index] ?? 0) - (row.lengths[index] ?? 0);

const jsonOf = (cell: Cell): Buffer | null => {
  const bytes = bytesOf(cell);
  return bytes !== null && cell.isExact ? exactJsonBytes(bytes) : bytes;
};

const noLabels = Buffer.from('{}');
const labelsOf = (cell: Cell): Buffer => bytesOf({ ...cell, index: cell.index + 1 }) ?? noLabels;

const pathOf = (cell: Cell): string[] => ancestorIds(bytesOf(cell) ?? Buffer.alloc(0));

const noIds = Buffer.from('[]');

export const columnWriter = ({ kind, isList }: FileColumn, vector: Vector): ColumnWriter => {
  switch (kind) {
    case 'text':
    case 'payload':
      return textWriter(vector, bytesOf);
    case 'exact':
      return textWriter(vector, (cell) => {
        const bytes = bytesOf(cell);
        return bytes !== null && cell.isExact ? exactBytes(bytes) : bytes;
      });
    case 'json':
      return textWriter(vector, jsonOf);
    case 'extra':
      return textWriter(vector, (cell) => extraBytes(bytesOf(cell), labelsOf(cell), cell.isExact));
    case 'metadata':
      return textWriter(vector, (cell) => metadataBytes(bytesOf(cell), labelsOf(cell), cell.isExact));
    case 'tags':
      return isList
        ? listWriter(vector, (cell) => textsOf(bytesOf(cell), cell.isExact))
        : textWriter(vector, jsonOf);
    case 'path':
      return isList
        ? listWriter(vector, pathOf)
        : textWriter(vector, (cell) => {
            const ids = pathOf(cell);
            return ids.length === 0 ? noIds : Buffer.from(JSON.stringify(ids));
          });
    case 'time': {
      const values = new BigInt64Array(chunkRows);
      return fixedWriter(vector, values, ({ row, index }, at) => (values[at] = microsAt(row, index)));
    }
    case 'int': {
      const values = new BigInt64Array(chunkRows);
      return fixedWriter(
        vector,
        values,
        (cell, at) => (values[at] = cell.row.bytes.readBigInt64BE(startOf(cell))),
      );
    }
    case 'float': {
      const values = new Float64Array(chunkRows);
      return fixedWriter(
        vector,
        values,
        (cell, at) => (values[at] = cell.row.bytes.readDoubleBE(startOf(cell))),
      );
    }
    case 'bool': {
      const values = new Uint8Array(chunkRows);
      return fixedWriter(vector, values, (cell, at) => (values[at] = cell.row.bytes[startOf(cell)] ?? 0));
    }
  }
};
