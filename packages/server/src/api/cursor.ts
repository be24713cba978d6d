// A cursor is a position in the order of (start_time, id), as opaque text: base64url of the JSON {v, t, id}. Clients send it back.
// The function export_cursor_time reads the time of stored cursors in the database.
import { invalid, type Problem } from '@svc/contract/problem';

export interface Place {
  /** With microseconds, which a JavaScript date would lose. */
  start_time: string;
  id: string;
}

/** `more`: further fields of the position in some lists. */
export const toCursor = ({ start_time, id }: Place, more: Record<string, unknown> = {}): string =>
  Buffer.from(JSON.stringify({ v: 1, t: start_time, id, ...more })).toString('base64url');

/** The content of a cursor; undefined for any other text. Callers must check the values, because clients send cursors. */
export const readCursor = (cursor: string): (Place & { more: Record<string, unknown> }) | undefined => {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined; // not JSON, so not a cursor
  }
  const { v, t, id, ...more } = { ...(content as Record<string, unknown> | null) };
  return v === 1 && typeof t === 'string' && typeof id === 'string' ? { start_time: t, id, more } : undefined;
};

export const foreignCursor = (): Problem =>
  invalid(['body', 'cursor'], 'cursor must be one that this server has returned');

/** In a cursor, ids are as the database writes them. */
export const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);

/** The content of a cursor that a request has in its body. Throws invalid when it is none, or has no id. The caller checks the rest. */
export const cursorOfBody = (cursor: string): Place & { more: Record<string, unknown> } => {
  const found = readCursor(cursor);
  if (!found || !isId(found.id)) throw foreignCursor();
  return found;
};
