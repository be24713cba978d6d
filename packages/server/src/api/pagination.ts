import { RawJson, Reply, type ReplyFacts } from './handlers.ts';
import type { JsonPart } from '../parsing/json-bytes.ts';

/** A page with the number of all matches, and where the next page starts if there is one. */
export const paginated = <T>(
  rows: T[],
  total: number,
  page: { limit: number; offset: number },
): Reply<T[]> => {
  const next = page.offset + rows.length;
  return new Reply(rows, { total, ...(rows.length > 0 && next < total ? { next } : {}) });
};

export interface PageOf<T> {
  rows: T[];
  hasMore: boolean;
  /** The page ended before its limit, because more would be too large for one response. */
  isCut: boolean;
}

/** Where the next page starts if there is one, and whether this page ended before its limit. */
export const pageFacts = (
  { hasMore, isCut }: Omit<PageOf<unknown>, 'rows'>,
  next: string | number | undefined,
): ReplyFacts => ({ isCut, ...(hasMore ? { next } : {}) });

/** A list of JSON texts, with the number of all matches if it is known. */
export const textPage = (page: PageOf<JsonPart>, offset: number, total?: number): Reply<RawJson> =>
  new Reply(RawJson.list(page.rows), {
    ...(total === undefined ? {} : { total }),
    ...pageFacts(page, offset + page.rows.length),
  });
