import * as z from 'zod';
import { Id, Metadata, nullish, queryList, When } from '../json.ts';
import { limit, offset, pageHeaders, sortBy, SortOrder } from '../page.ts';
import { routesOf } from '../route.ts';
import { Thread, ThreadStatus } from './thread.ts';

/** A page counts no more matches than these and its own. */
export const threadCountMax = 1_000;

const headers = {
  ...pageHeaders,
  'X-Pagination-Next': 'The offset of the next page; absent on the last one, and on pages by cursor',
  'X-Pagination-Cursor': 'The cursor of the next page; absent on the last one',
  'X-Pagination-Total': `The number of matches, up to ${threadCountMax} and the end of the page: one more means that there are more. threads/count has no bound. Absent on pages by cursor`,
};

const access = { resource: 'threads', action: 'search' } as const;
const route = routesOf('Threads');

const fields = [
  'thread_id',
  'created_at',
  'updated_at',
  'state_updated_at',
  'metadata',
  'config',
  'status',
  'values',
  'interrupts',
  'error',
  'ttl',
  'context',
] as const;

export const threadSelect = queryList(z.enum(fields)).describe(
  'The fields that are returned; all of them by default. Without `values`, the state is not read. Threads have no `context`',
);

/** Conditions on the rows of threads. */
export const threadFilter = {
  metadata: nullish(Metadata),
  status: nullish(ThreadStatus),
  has_interrupts: nullish(z.boolean()).describe(
    'True: only threads that have the status `interrupted` and wait for an answer. False: all other threads. With the status `interrupted`, false finds threads that stopped at a breakpoint or whose run was cancelled',
  ),
  created_after: nullish(When).describe('Only threads created at this time or later'),
  created_before: nullish(When).describe('Only threads created before this time'),
  updated_after: nullish(When).describe('Only threads whose `updated_at` is this time or later'),
  updated_before: nullish(When).describe('Only threads whose `updated_at` is before this time'),
  state_updated_after: nullish(When).describe('Only threads whose state changed last at this time or later'),
  state_updated_before: nullish(When).describe('Only threads whose state changed last before this time'),
};

const filters = {
  ids: nullish(z.array(Id).max(1_000)),
  values: nullish(Metadata).describe(
    'Only threads whose newest checkpoint contains these values; at most 64 KB of JSON',
  ),
  ...threadFilter,
};

export const threadSearchRoutes = {
  searchThreads: route('post', '/threads/search', {
    summary: 'Search threads',
    access,
    bodyOptional: true,
    body: z.object({
      ...filters,
      limit: limit(10),
      offset,
      cursor: nullish(z.string().min(1).max(1_024)).describe(
        '`X-Pagination-Cursor` of the page before, instead of `offset`: the page begins behind its last thread, at the same cost for every page. `sort_by` and `sort_order` are those of the page before',
      ),
      sort_by: sortBy(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'], 'created_at'),
      sort_order: SortOrder,
      select: nullish(z.array(z.enum(fields)).max(fields.length)),
      extract: nullish(
        z
          .record(z.string().min(1).max(64), z.string().max(256))
          .refine((paths) => Object.keys(paths).length <= 10, { error: 'has more than 10 paths' })
          .describe(
            'Paths by alias, such as `{"last": "values.messages[-1].content"}`: the result has the parts in `extracted`. A path begins with values, metadata, config or interrupts',
          ),
      ),
    }),
    errors: ['too_large'],
    response: z.array(Thread),
    headers,
  }),
  countThreads: route('post', '/threads/count', {
    summary: 'Count threads',
    access,
    bodyOptional: true,
    body: z.object(filters),
    response: z.int(),
  }),
};
