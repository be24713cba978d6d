// The caller of a feed, and what the caller may read.
import { Problem } from '@svc/contract/problem';
import type { Call } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import type { FeedReader } from './thread-event-feed.ts';
import { dialectOf } from './translation/dialect.ts';

/** Throws the error of a handler that refuses. */
export const feedReader = async (call: Call, thread_id: string): Promise<FeedReader> => ({
  thread_id,
  dialect: dialectOf(call.header('user-agent')),
  access: await readAccess(call.authorizer, { thread_id }),
  mayCreate: async () => {
    try {
      await call.authorizer.authorize('threads:create', { thread_id, metadata: {}, if_exists: undefined });
      return true;
    } catch (error) {
      if (error instanceof Problem && error.code === 'forbidden') return false;
      throw error;
    }
  },
});
