// Parameters of pages in a body: limit, offset, order; limit and offset in a query. Headers of pages.
import * as z from 'zod';
import { nullish, queryInteger } from './json.ts';

export const limitMax = 1_000;
export const offsetMax = 100_000;

export const limit = (fallback: number, max = limitMax) =>
  nullish(z.int().min(1).max(max)).transform((value) => value ?? fallback);
export const offset = nullish(z.int().min(0).max(offsetMax)).transform((value) => value ?? 0);

/** The same of a query. */
export const queryLimit = queryInteger(1, limitMax)
  .optional()
  .transform((value) => value ?? 10);
export const queryOffset = queryInteger(0, offsetMax)
  .optional()
  .transform((value) => value ?? 0);

export const SortOrder = nullish(z.enum(['asc', 'desc'])).transform((value) => value ?? 'desc');

export const sortBy = <const T extends readonly [string, ...string[]]>(fields: T, fallback: T[number]) =>
  nullish(z.enum(fields)).transform((value) => value ?? fallback);

export const limitedBy = 'bytes: the page ended early, because more rows would exceed 16 MB';

/** Headers of a list whose matches are not counted. */
export const pageHeaders = {
  'X-Pagination-Next': 'The offset of the next page; absent on the last one',
  'X-Pagination-Limited-By': limitedBy,
};

export const paginationHeaders = {
  'X-Pagination-Total': 'The number of all matches',
  ...pageHeaders,
};
