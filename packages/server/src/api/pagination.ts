// Pages of lists. pageReply() sets the facts of a page; the other functions adapt it to kinds of lists.
import { RawJson, Reply, type ReplyFacts } from './handlers.ts';
import type { JsonPart } from '../parsing/json-bytes.ts';

/** Where a page ends. */
interface PageEnd {
  hasMore: boolean;
  /** The page ended early, because more rows would make the response too large. */
  isCut: boolean;
}

export interface PageOf<T> extends PageEnd {
  rows: T[];
}

/** The response of a page. `next` and `cursor`: what a client sends to get the next page; `next` is an offset or a cursor. */
export const pageReply = <T>(
  body: T,
  { hasMore, isCut }: PageEnd,
  { next, cursor, total }: Pick<ReplyFacts, 'next' | 'cursor'> & { total?: number | undefined } = {},
): Reply<T> =>
  new Reply(body, {
    ...(total === undefined ? {} : { total }),
    ...(hasMore && next !== undefined ? { next } : {}),
    ...(hasMore && cursor !== undefined ? { cursor } : {}),
    limitedBy: isCut ? 'bytes' : undefined,
  });

/** A page of JSON texts, by offset, with the number of all matches when it is known. */
export const textPage = (page: PageOf<JsonPart>, offset: number, total?: number): Reply<RawJson> =>
  pageReply(RawJson.list(page.rows), page, { next: offset + page.rows.length, total });

/** A page of values, by offset, of a list with a known number of matches. */
export const valuePage = <T>(rows: T[], offset: number, total: number): Reply<T[]> => {
  const next = offset + rows.length;
  return pageReply(rows, { hasMore: rows.length > 0 && next < total, isCut: false }, { next, total });
};
