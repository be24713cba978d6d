import * as z from 'zod';
import { nullish } from '../json.ts';
import { route } from '../route.ts';
import { runFilter } from './run-search.ts';
import { Run } from './run.ts';

/** A run of the feed: what a search returns, without the input, which never changes. */
export const RunSummary = Run.omit({ kwargs: true, waiting_for: true }).meta({ id: 'RunSummary' });
export type RunSummary = z.output<typeof RunSummary>;

export const runFeedRoutes = {
  streamRunFeed: route({
    method: 'post',
    path: '/runs/feed',
    summary: 'Stream changes of runs across threads',
    description:
      'Event `run` has a run that was created or has changed, and that matches the filter after the change. `position`: you have received all changes so far. A list that you read now, together with the later events, contains every change. It is the first event of a new feed, follows what a reader has missed, and is repeated while no run changes. `gap`: changes may be missing, because the client was away for more than two minutes; read lists again. The stream does not end by itself.',
    tag: 'Runs',
    access: { resource: 'threads', action: 'read' },
    kind: 'sse',
    bodyOptional: true,
    body: z.object({
      ...runFilter,
      select: nullish(z.array(RunSummary.keyof()).max(Object.keys(RunSummary.shape).length)).describe(
        'The fields of the runs; all of them by default',
      ),
    }),
    response: z.string(),
    requestHeaders: {
      'Last-Event-ID': 'The id of the last event: the stream continues after it. Ids are opaque',
    },
  }),
};
