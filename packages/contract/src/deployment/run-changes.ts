import * as z from 'zod';
import { route } from '../route.ts';

export const runChangeRoutes = {
  streamRunChanges: route({
    method: 'get',
    path: '/runs/changes',
    summary: 'Stream notifications of changed runs',
    description:
      'Event `runs`: runs that you may read were created or have changed. `thread_ids` has their threads, at most 100. Without it, any run may have changed: read your lists again. That is the first event of a stream, and follows what you may have missed. There is at most one event in a second. The stream does not end by itself.',
    tag: 'Runs',
    access: { resource: 'threads', action: 'read' },
    kind: 'sse',
    response: z.string(),
  }),
};
