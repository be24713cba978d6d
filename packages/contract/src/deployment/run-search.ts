import * as z from 'zod';
import { Id, Metadata, nullish, When } from '../json.ts';
import { limit, limitedBy, SortOrder } from '../page.ts';
import { routesOf } from '../route.ts';
import { Run, RunStatus } from './run.ts';

const route = routesOf('Runs');

/** Which runs a search returns. */
export const runFilter = {
  status: nullish(z.union([RunStatus, z.array(RunStatus).min(1).max(RunStatus.options.length)])),
  assistant_id: nullish(Id),
  graph_id: nullish(z.string().min(1).max(256)),
  thread_id: nullish(Id),
  metadata: nullish(Metadata).describe('Only runs whose metadata contains these keys with these values'),
  created_after: nullish(When).describe('Only runs created at this time or later'),
  created_before: nullish(When).describe('Only runs created before this time'),
  ended_after: nullish(When).describe('Only runs that ended at this time or later'),
  ended_before: nullish(When).describe('Only runs that ended before this time'),
};

export const runSearchRoutes = {
  searchRuns: route('post', '/runs/search', {
    summary: 'Search runs across threads, newest first',
    access: { resource: 'threads', action: 'read' },
    bodyOptional: true,
    body: z.object({
      run_id: nullish(Id),
      ...runFilter,
      sort_order: SortOrder.describe('By the time of creation'),
      limit: limit(10),
      cursor: nullish(z.string().min(1).max(1_024)).describe('`X-Pagination-Next` of the page before'),
      select: nullish(z.array(z.enum(keysOf(Run.shape))).max(Object.keys(Run.shape).length)).describe(
        'The fields that are returned; all of them by default',
      ),
    }),
    response: z.array(Run),
    headers: {
      'X-Pagination-Next': 'The cursor of the next page; absent on the last one',
      'X-Pagination-Limited-By': `${limitedBy}. rows: it ended early after many runs that do not match; the next page may have more`,
    },
  }),
};

function keysOf<T extends object>(shape: T): (keyof T & string)[] {
  return Object.keys(shape) as (keyof T & string)[];
}
