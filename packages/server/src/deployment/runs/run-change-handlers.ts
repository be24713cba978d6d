import type { runChangeRoutes } from '@svc/contract';
import { EventStreamResponse, type Handlers } from '../../api/handlers.ts';
import { readAccess } from '../threads/read-access.ts';
import type { RunChangeNotifier } from './run-change-notifier.ts';

export const runChangeHandlers = (changes: RunChangeNotifier): Handlers<typeof runChangeRoutes> => ({
  streamRunChanges: async (_, call) => {
    const access = await readAccess(call.authorizer, {});
    changes.assertOpen();
    return new EventStreamResponse((sink, stop) => changes.read(access, sink, stop), 'none');
  },
});
