// Responses to trace queries that exceed their time budget: partial pages with a notice, and 503 with advice for sums.
import { Problem } from '@svc/contract/problem';
import type { SearchPosition } from '../../storage/tracing/trace-search.ts';
import { isTimeLimit } from '../../storage/postgres/sql-state.ts';

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
