// The caller of a feed, and what the caller may read.
import { Problem } from '@svc/contract/problem';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import { readAccess } from '../threads/read-access.ts';
import type { FeedReader } from './thread-event-feed.ts';

/** Throws the error of a handler that refuses. */
export const feedReader = async (authorizer: Authorizer, thread_id: string): Promise<FeedReader> => ({
  thread_id,
  access: await readAccess(authorizer, { thread_id }),
  mayCreate: async () => {
    try {
      await authorizer.authorize('threads:create', { thread_id, metadata: {}, if_exists: undefined });
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden') return false;
      throw error;
    }
  },
});
