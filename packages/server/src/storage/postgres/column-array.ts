// Columns of a batch as text[] parameters in PostgreSQL's binary format, so that neither side escapes or parses text.

/** Text, or bytes that are valid UTF-8. */
export type Cell = string | Uint8Array | null;

const textOid = 25;
const headBytes = 20;
const nullLength = -1;

/** A parameter of type text[]. */
export const toColumn = (cells: readonly Cell[]): Buffer => {
  let size = headBytes;
  let hasNull = 0;
  const lengths: number[] = [];
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] ?? null;
    const length =
      cell === null ? nullLength : typeof cell === 'string' ? Buffer.byteLength(cell) : cell.length;
    lengths.push(length);
    if (length === nullLength) hasNull = 1;
    else size += length;
    size += 4;
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const word of [1, hasNull, textOid, cells.length, 1]) at = bytes.writeInt32BE(word, at);
  for (let index = 0; index < cells.length; index++) {
    const length = lengths[index] ?? nullLength;
    at = bytes.writeInt32BE(length, at);
    const cell = cells[index] ?? null;
    if (cell === null) continue;
    if (typeof cell === 'string') bytes.write(cell, at, length);
    else bytes.set(cell, at);
    at += length;
  }
  return bytes;
};
