import { RawJson, Reply } from './handlers.ts';
import type { JsonPart } from '../parsing/json-bytes.ts';

/** A page with the number of all matches in its headers, and where the next page starts if there is one. */
export const paginated = <T>(
  rows: T[],
  total: number,
  page: { limit: number; offset: number },
): Reply<T[]> => {
  const next = page.offset + rows.length;
  return new Reply(rows, {
    'x-pagination-total': String(total),
    ...(rows.length > 0 && next < total ? { 'x-pagination-next': String(next) } : {}),
  });
};

export interface PageOf<T> {
  rows: T[];
  hasMore: boolean;
  /** It ended early, since more would be too large for one answer. */
  isCut: boolean;
}

/** Where the next page starts if there is one, and why this one ended early if it did. */
export const pageHeaders = (
  { hasMore, isCut }: Omit<PageOf<unknown>, 'rows'>,
  next: string | number | undefined,
): Record<string, string> => ({
  ...(hasMore && next !== undefined ? { 'x-pagination-next': String(next) } : {}),
  ...(isCut ? { 'x-pagination-limited-by': 'bytes' } : {}),
});

/** A list of JSON texts, with the number of all matches if it is known. */
export const textPage = (page: PageOf<JsonPart>, offset: number, total?: number): Reply<RawJson> =>
  new Reply(RawJson.list(page.rows), {
    ...(total === undefined ? {} : { 'x-pagination-total': String(total) }),
    ...pageHeaders(page, offset + page.rows.length),
  });
