import type { QueryClient } from '@tanstack/react-query';

/** The beginnings of the keys of all queries that a change of threads or runs can change. */
const changing = [['threads'], ['thread'], ['runs'], ['run'], ['inbox'], ['counts'], ['webhooks']];

/**
 * Reads again what a change of a thread or a run can have changed. Reads in flight are cancelled first: the cache would take the result of
 * a first read that has begun before the change.
 */
export const refreshChanged = async (queries: QueryClient): Promise<void> => {
  await Promise.all(changing.map((queryKey) => queries.cancelQueries({ queryKey })));
  await Promise.all(changing.map((queryKey) => queries.invalidateQueries({ queryKey })));
};
