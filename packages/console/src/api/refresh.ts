import type { QueryClient } from '@tanstack/react-query';

/** The beginnings of the keys of all queries that a change of threads or runs can change. */
const changing = [['threads'], ['thread'], ['runs'], ['run'], ['inbox'], ['counts'], ['webhooks']];

/**
 * Reads again what a change of a thread or a run can have changed. Reads in flight are cancelled first: the cache would take the result of
 * a first read that has begun before the change. `threadId`: the only thread that has changed. Reads of other threads continue: a page
 * may need their results.
 */
export const refreshChanged = async (queries: QueryClient, threadId?: string): Promise<void> => {
  const keys = changing.map(([name = '']) =>
    threadId !== undefined && (name === 'thread' || name === 'run') ? [name, threadId] : [name],
  );
  await Promise.all(keys.map((queryKey) => queries.cancelQueries({ queryKey })));
  await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
};
