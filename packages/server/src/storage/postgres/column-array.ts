// Columns of a batch as text[] parameters in PostgreSQL's binary format, so that neither side escapes or parses text.
import { LongParameter, shortMax } from './long-parameter.ts';

/** Text, or bytes that are valid UTF-8. */
export type Cell = string | Uint8Array | null;

const textOid = 25;
const headBytes = 20;
const nullLength = -1;

const lengthOf = (cell: Cell): number =>
  cell === null ? nullLength : typeof cell === 'string' ? Buffer.byteLength(cell) : cell.length;

/** A parameter of type text[]. */
export const toColumn = (cells: readonly Cell[]): Buffer | LongParameter => {
  let size = headBytes;
  let hasNull = 0;
  const lengths: number[] = [];
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null;
    const length = lengthOf(cell);
    lengths.push(length);
    if (length === nullLength) hasNull = 1;
    else if (!isLong(cell)) size += length;
    size += 4;
  }
  const bytes = Buffer.allocUnsafe(size);
  const pieces: Uint8Array[] = [];
  let from = 0;
  let at = 0;
  for (const word of [1, hasNull, textOid, cells.length, 1]) at = bytes.writeInt32BE(word, at);
  for (let index = 0; index < cells.length; index++) {
    const length = lengths[index] ?? nullLength;
    at = bytes.writeInt32BE(length, at);
    const cell = cells[index] ?? null;
    if (cell === null) continue;
    if (isLong(cell)) {
      pieces.push(bytes.subarray(from, at), typeof cell === 'string' ? Buffer.from(cell) : cell);
      from = at;
      continue;
    }
    if (typeof cell === 'string') bytes.write(cell, at, length);
    else bytes.set(cell, at);
    at += length;
  }
  return pieces.length === 0 ? bytes : new LongParameter([...pieces, bytes.subarray(from)]);
};

/** A parameter of type bytea. */
export const toBytes = (bytes: Uint8Array): Uint8Array | LongParameter =>
  isLong(bytes) ? new LongParameter([bytes]) : bytes;

const isLong = <T extends Cell>(cell: T): cell is NonNullable<T> => cell !== null && cell.length > shortMax;
