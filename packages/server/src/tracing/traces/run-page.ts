// Pages of traces: their cursors, and responses to queries that exceed their time budget: partial pages with a notice, and 503 with advice for
// sums.
import { RawJson, type Reply } from '../../api/handlers.ts';
import { pageReply } from '../../api/pagination.ts';
import { cursorOfBody, foreignCursor, toCursor as encodeCursor } from '../../api/cursor.ts';
import type { SearchPosition } from '../../storage/tracing/trace-search.ts';
import { toTime } from '../../api/time.ts';
import { Problem } from '@svc/contract/problem';
import { isTimeLimit } from '../../storage/postgres/sql-state.ts';

/** A page of trace runs as JSON text, which contains the cursor of the next page. */
export interface TraceRunPage {
  text: string;
  /** The page ended early, because more rows would make the response too large. */
  isCut: boolean;
}

export const toRunPage = ({ text, isCut }: TraceRunPage): Reply<RawJson> =>
  pageReply(new RawJson(text), { hasMore: false, isCut });

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

const narrow =
  'name a project and a shorter span of time, or filter by thread, metadata or tags, which have indexes';

/** Fields of a page that say whether the search stopped before the page was full. */
export interface PartialAnswer {
  is_partial: boolean;
  notice: string | null;
}

/** `stopped`: where the search stopped; null when it finished. `cursor`: name of the response field that holds the cursor. */
export const partialOf = (
  stopped: SearchPosition | null,
  budgetMs: number,
  cursor: string,
): PartialAnswer => ({
  is_partial: stopped !== null,
  notice:
    stopped === null
      ? null
      : `The search used up its time budget of ${budgetMs / 1_000} s at runs that started at ${stopped.start_time}. ` +
        `${cursor} continues from there. For faster responses, ${narrow}.`,
});

/** For queries without partial results: converts a statement timeout to 503 with advice how to narrow the query. */
export const withTimeoutAdvice = async <T>(what: string, work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (!isTimeLimit(error)) throw error;
    throw new Problem('unavailable', `${what} takes too long: ${narrow}`, { retryAfterSeconds: 60 });
  }
};
