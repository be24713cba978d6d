import type { Query, QueryClient } from '@tanstack/react-query';

/** The beginnings of the keys of all queries that a change of threads or runs can change. */
const changing = [['threads'], ['thread'], ['runs'], ['run'], ['inbox'], ['counts'], ['webhooks']];

/**
 * Reads again what a change of a thread or a run can have changed. Reads in flight are cancelled first: the cache would take the result of
 * a first read that has begun before the change. `threadIds`: the only threads that have changed. Reads of other threads continue: a page
 * may need their results. `predicate`: false for queries that are left out.
 */
export const refreshChanged = async (
  queries: QueryClient,
  threadIds?: string | readonly string[],
  predicate: (query: Query) => boolean = () => true,
): Promise<void> => {
  const keys = changing.flatMap(([name = '']) =>
    threadIds !== undefined && (name === 'thread' || name === 'run')
      ? [threadIds].flat().map((id) => [name, id])
      : [[name]],
  );
  const changed = keys.map((queryKey) => ({ queryKey, predicate }));
  await Promise.all(changed.map((filters) => queries.cancelQueries(filters)));
  await Promise.all(changed.map((filters) => queries.invalidateQueries(filters)));
};
