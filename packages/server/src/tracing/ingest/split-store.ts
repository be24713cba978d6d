// Stores the items of a request together. When the database refuses them, they are stored in halves, until the refused item is alone.
import { refusalOf } from '../../storage/postgres/sql-state.ts';

/** Refused statements of one request, after which refused parts are not split any more. Isolates about eight items of 1,000. */
const refusalsMax = 100;

export interface RefusedItems<T> {
  items: readonly T[];
  /** True when the items were not tried one by one. */
  isUnsplit: boolean;
}

/** Called once for a request of which the database has refused statements, with the first error. */
export type OnRefused = (refused: { statements: number; error: unknown }) => void;

/**
 * Stores all items that the database accepts, and returns the others. Throws errors that do not depend on the items: errors of
 * outages and conflicts at once, other errors when nothing was stored.
 */
export const storeInParts = async <T>(
  items: readonly T[],
  store: (part: readonly T[]) => Promise<void>,
  onRefused: OnRefused,
): Promise<RefusedItems<T>[]> => {
  const waiting: (readonly T[])[] = items.length === 0 ? [] : [items];
  const refused: RefusedItems<T>[] = [];
  const errors: unknown[] = [];
  let isAnyStored = false;
  try {
    for (let part = waiting.pop(); part; part = waiting.pop()) {
      try {
        await store(part);
        isAnyStored = true;
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
        errors.push(error);
        if (part.length > 1 && errors.length < refusalsMax) {
          const half = Math.ceil(part.length / 2);
          waiting.push(part.slice(half), part.slice(0, half));
        } else refused.push({ items: part, isUnsplit: part.length > 1 });
      }
    }
  } finally {
    if (errors.length > 0) onRefused({ statements: errors.length, error: errors[0] });
  }
  const fault = errors.find((error) => refusalOf(error) === 'statement');
  if (fault !== undefined && !isAnyStored) throw fault;
  return refused;
};
