import type { runFeedRoutes } from '@svc/contract';
import { EventStreamResponse, type Handlers } from '../../../api/handlers.ts';
import { readAccess } from '../../threads/read-access.ts';
import type { RunFeed } from './run-feed.ts';

export const runFeedHandlers = (feed: RunFeed): Handlers<typeof runFeedRoutes> => ({
  streamRunFeed: async ({ body }, call) => {
    const { select, status, ...rest } = body;
    const statuses = typeof status === 'string' ? [status] : status;
    const search = { ...rest, status: statuses };
    const access = await readAccess(call.authorizer, { thread_id: body.thread_id });
    feed.assertOpen();
    const lastEventId = call.header('last-event-id');
    return new EventStreamResponse((sink) => feed.open({ search, access, select }, lastEventId, sink));
  },
});
