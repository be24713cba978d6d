import { Reply } from './handlers.ts';

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
