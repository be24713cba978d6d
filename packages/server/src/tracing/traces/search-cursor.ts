// The cursors of lists in the order of (start_time, id).
import { cursorOfBody, foreignCursor, toCursor as encodeCursor } from '../../api/cursor.ts';
import type { SearchPosition } from '../../storage/tracing/trace-search.ts';
import { toTime } from '../../api/time.ts';

export const toCursor = ({ stretch, ...position }: SearchPosition): string =>
  encodeCursor(position, { stretch });

/** Parses a cursor that `toCursor` returned. Throws invalid for any other text. */
export const parseCursor = (cursor: string): SearchPosition => {
  const found = cursorOfBody(cursor);
  const start_time = toTime(found.start_time);
  const { stretch } = found.more;
  const isStretch =
    typeof stretch === 'number' && Number.isInteger(stretch) && stretch >= 1 && stretch <= 99_999;
  if (start_time === undefined || (stretch !== undefined && !isStretch)) throw foreignCursor();
  return { start_time, id: found.id, ...(isStretch ? { stretch } : {}) };
};
