// Cursors of thread searches: a place in the order of the search, and that order.
import { ThreadStatus } from '@svc/contract';
import { cursorOfBody, foreignCursor, isId, toCursor } from '../../api/cursor.ts';
import { invalid } from '@svc/contract/problem';
import type { ListedThread, ThreadPage } from '../../storage/deployment/threads.ts';
import type { SortedPlace } from '../../storage/postgres/sorted-page.ts';
import { toTime } from '../../api/time.ts';

type Order = Pick<ThreadPage, 'sort_by' | 'sort_order'>;

export const threadCursor = (
  { place, thread_id }: Pick<ListedThread, 'place' | 'thread_id'>,
  { sort_by, sort_order }: Order,
): string => toCursor({ start_time: place, id: thread_id }, { sort_by, sort_order });

/** Clients send cursors, so the value must be one of the column. */
const isValueOf = (sort_by: Order['sort_by'], value: string): boolean => {
  if (sort_by === 'thread_id') return isId(value);
  if (sort_by === 'status') return ThreadStatus.safeParse(value).success;
  return toTime(value) !== undefined;
};

/** Throws invalid for a cursor of another order, and for text that is none. */
export const threadPlace = (cursor: string, { sort_by, sort_order }: Order): SortedPlace => {
  const { start_time: value, id, more } = cursorOfBody(cursor);
  if (!isValueOf(sort_by, value)) throw foreignCursor();
  if (more['sort_by'] !== sort_by || more['sort_order'] !== sort_order)
    throw invalid(['body', 'cursor'], 'cursor belongs to a search with another sort_by or sort_order');
  return { value, id };
};
