// A place in the order of an export's rows as text, for clients to keep and not to read: base64url of {v, t, id}. The time has
// its microseconds, which JavaScript's dates would lose.
import type { RowPlace } from '../parquet/export-file.ts';

export const toCursor = ({ start_time, id }: RowPlace): string =>
  Buffer.from(JSON.stringify({ v: 1, t: start_time, id })).toString('base64url');

export const fromCursor = (cursor: string): RowPlace => {
  const { v, t, id } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Record<string, unknown>;
  if (v !== 1 || typeof t !== 'string' || typeof id !== 'string')
    throw new Error('The cursor is none of ours');
  return { start_time: t, id };
};
