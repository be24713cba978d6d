import * as z from 'zod';
import { Empty, Id, Metadata } from '../json.ts';
import { route } from '../route.ts';

export const stateMetadataRoutes = {
  patchThreadState: route({
    method: 'patch',
    path: '/threads/:thread_id/state',
    summary: 'Add metadata to the newest checkpoint of a thread',
    description:
      'Merged by key. Keys that the server sets, such as `source`, `step` and `run_id`, keep their values.',
    tag: 'Threads',
    access: { resource: 'threads', action: 'update' },
    params: z.object({ thread_id: Id }),
    body: z.object({ metadata: Metadata }),
    status: 204,
    response: Empty,
    errors: ['not_found', 'conflict'],
  }),
};
