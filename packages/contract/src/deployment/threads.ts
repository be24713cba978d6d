import * as z from 'zod';
import { Empty, Id, Json, JsonObject, Metadata, nullish, QueryBoolean, Time } from '../json.ts';
import { limit, limitedBy, queryLimit } from '../page.ts';
import { routesOf } from '../route.ts';
import { Command } from './command.ts';
import { selectMax, StateField, stateSelect } from './state-select.ts';
import { stateValueRoutes } from './state-value.ts';
import { Interrupt, Thread } from './thread.ts';
import { threadSearchRoutes, threadSelect } from './thread-search.ts';
import { PruneRequest, Ttl } from './ttl.ts';

export const Checkpoint = z
  .object({ thread_id: Id, checkpoint_ns: z.string(), checkpoint_id: Id.nullable() })
  .meta({ id: 'Checkpoint' });

export interface ThreadTask {
  id: string;
  name: string;
  path: unknown[];
  error: string | null;
  interrupts: Interrupt[];
  checkpoint: { thread_id: string; checkpoint_ns: string } | null;
  state: ThreadState | null;
  result: unknown;
}

export interface ThreadState {
  values: unknown;
  next: string[];
  tasks: ThreadTask[];
  interrupts: Interrupt[];
  metadata: Record<string, unknown>;
  created_at: string | null;
  checkpoint: z.output<typeof Checkpoint>;
  parent_checkpoint: z.output<typeof Checkpoint> | null;
  checkpoint_id: string | null;
  parent_checkpoint_id: string | null;
  nodes?: string[] | undefined;
}

const Task = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.array(Json),
    error: z.string().nullable(),
    interrupts: z.array(Interrupt),
    checkpoint: z.object({ thread_id: Id, checkpoint_ns: z.string() }).nullable(),
    state: JsonObject.nullable().describe('The ThreadState of a subgraph, when subgraphs were requested'),
    result: Json,
  })
  .meta({ id: 'ThreadTask', description: 'A task that runs next, or that waits for an interrupt' });

export const ThreadState: z.ZodType<ThreadState> = z
  .object({
    values: Json,
    next: z.array(z.string()),
    tasks: z.array(Task),
    interrupts: z.array(Interrupt),
    metadata: JsonObject,
    created_at: Time.nullable(),
    checkpoint: Checkpoint,
    parent_checkpoint: Checkpoint.nullable(),
    checkpoint_id: Id.nullable(),
    parent_checkpoint_id: Id.nullable(),
    nodes: z
      .array(z.string())
      .optional()
      .describe(
        'Names of the nodes that have led to the checkpoint, or __start__ for an input; on request only',
      ),
  })
  .meta({
    id: 'ThreadState',
    description: 'A snapshot of a thread at one checkpoint',
  }) as unknown as z.ZodType<ThreadState>;

export const CheckpointSelector = z
  .object({
    checkpoint_id: nullish(Id),
    checkpoint_ns: nullish(z.string().max(4_096)),
    checkpoint_map: nullish(JsonObject),
  })
  .meta({
    id: 'CheckpointSelector',
    description: 'A checkpoint; without an id, the newest one of its namespace',
  });

const historyHeaders = {
  'X-Pagination-Next': 'The value of `before` for the next page; absent on the last one',
  'X-Pagination-Limited-By': limitedBy,
};

const params = z.object({ thread_id: Id });
const access = (action: string | readonly string[]) => ({ resource: 'threads', action }) as const;
const route = routesOf('Threads');
const Update = z.strictObject({
  values: Json.optional(),
  command: nullish(Command),
  as_node: nullish(z.string().min(1).max(256)),
});

const Superstep = z.strictObject({ updates: z.array(Update).min(1).max(100) }).meta({ id: 'Superstep' });

const historyLimit = limit(10);
const Before = z
  .union([
    Id,
    z.looseObject({
      checkpoint_id: nullish(Id),
      configurable: nullish(z.looseObject({ checkpoint_id: nullish(Id) })),
    }),
  ])
  .describe('A checkpoint id, or a config that holds one');

const usage = { count: z.int(), bytes: z.int() };

export const ThreadStorageReport = z
  .object({
    thread_id: Id,
    total_bytes: z.int(),
    checkpoints: z.object(usage),
    channel_values: z
      .object({
        ...usage,
        by_channel: z
          .record(z.string(), z.object({ versions: z.int(), bytes: z.int() }))
          .describe(
            'The channels with the most bytes, at most 1,000. What channels share counts for each of them',
          ),
      })
      .describe('`count`: the different values that channels have had'),
    pending_writes: z.object(usage).describe('What nodes have written, and what only these writes contain'),
  })
  .meta({
    id: 'ThreadStorageReport',
    description:
      'Bytes of the stored content, without indexes and row headers. What a thread shares with its copies counts for each of them',
  });
export type ThreadStorageReport = z.output<typeof ThreadStorageReport>;

export const threadRoutes = {
  createThread: route('post', '/threads', {
    summary: 'Create a thread, empty or with a state built from supersteps',
    access: access('create'),
    bodyOptional: true,
    body: z.object({
      thread_id: nullish(Id),
      metadata: nullish(Metadata),
      if_exists: nullish(z.enum(['raise', 'do_nothing'])).transform((value) => value ?? 'raise'),
      supersteps: nullish(z.array(Superstep).max(100)),
      ttl: Ttl,
    }),
    anyText: ['supersteps'],
    response: Thread,
    errors: ['conflict'],
  }),
  ...threadSearchRoutes,
  getThread: route('get', '/threads/:thread_id', {
    summary: 'Get a thread',
    access: access('read'),
    params,
    query: z.object({ select: threadSelect }),
    ignored: { query: { include: 'The thread always has its `ttl`.' } },
    response: Thread,
    errors: ['not_found'],
  }),
  patchThread: route('patch', '/threads/:thread_id', {
    summary: 'Merge metadata into a thread, and set its expiry',
    access: access('update'),
    params,
    body: z.object({ metadata: nullish(Metadata), ttl: Ttl }),
    requestHeaders: { Prefer: '`return=minimal`: the response has no body' },
    empty: 'With `Prefer: return=minimal`',
    response: Thread,
    errors: ['not_found'],
  }),
  deleteThread: route('delete', '/threads/:thread_id', {
    audited: 'thread.delete',
    summary: 'Delete a thread with its runs and checkpoints',
    access: access('delete'),
    params,
    status: 204,
    response: Empty,
    errors: ['not_found'],
  }),
  pruneThreads: route('post', '/threads/prune', {
    audited: 'thread.prune',
    summary: 'Delete threads, or everything except their current states',
    access: access(['delete', 'update']),
    body: PruneRequest,
    response: z.object({
      pruned_count: z
        .int()
        .describe('Without threads that do not exist, and threads in use that `keep_latest` skipped'),
    }),
  }),
  copyThread: route('post', '/threads/:thread_id/copy', {
    summary: 'Create an independent thread with the same history',
    access: access('create'),
    params,
    response: Thread,
    errors: ['not_found'],
  }),
  getThreadStorage: route('get', '/threads/:thread_id/storage', {
    summary: 'How many bytes a thread occupies, by kind and by channel',
    access: access('read'),
    params,
    response: ThreadStorageReport,
    errors: ['not_found'],
  }),
  getThreadState: route('get', '/threads/:thread_id/state', {
    summary: 'The current state of a thread',
    access: access('read'),
    params,
    query: z.object({ subgraphs: QueryBoolean.optional(), select: stateSelect }),
    response: ThreadState,
    errors: ['not_found'],
  }),
  ...stateValueRoutes,
  getThreadStateAt: route('get', '/threads/:thread_id/state/:checkpoint_id', {
    summary: 'The state of a thread at a checkpoint',
    access: access('read'),
    params: z.object({ thread_id: Id, checkpoint_id: Id }),
    query: z.object({ subgraphs: QueryBoolean.optional(), select: stateSelect }),
    response: ThreadState,
    errors: ['not_found'],
  }),
  getThreadStateAtCheckpoint: route('post', '/threads/:thread_id/state/checkpoint', {
    summary: 'The state of a thread, or of a subgraph, at a checkpoint',
    access: access('read'),
    params,
    body: z.object({
      checkpoint: CheckpointSelector,
      subgraphs: nullish(z.boolean()),
      select: nullish(z.array(StateField).max(selectMax)),
    }),
    response: ThreadState,
    errors: ['not_found'],
  }),
  updateThreadState: route('post', '/threads/:thread_id/state', {
    summary: 'Write to the state as a node would; a write to an earlier checkpoint creates a fork',
    access: access('update'),
    params,
    body: z.object({
      values: Json.optional(),
      as_node: nullish(z.string().min(1).max(256)),
      checkpoint: nullish(CheckpointSelector),
      checkpoint_id: nullish(Id),
    }),
    textFields: ['values'],
    anyText: ['values'],
    response: z.object({ checkpoint: Checkpoint }),
    errors: ['not_found', 'conflict', 'bad_request'],
  }),
  getThreadHistory: route('get', '/threads/:thread_id/history', {
    summary: 'Past states of a thread, newest first',
    access: access('read'),
    params,
    query: z.object({
      limit: queryLimit,
      before: Id.optional(),
      select: stateSelect,
    }),
    response: z.array(ThreadState),
    headers: historyHeaders,
    errors: ['not_found'],
  }),
  searchThreadHistory: route('post', '/threads/:thread_id/history', {
    summary: 'Past states of a thread, newest first, with filters',
    access: access('read'),
    params,
    bodyOptional: true,
    body: z.object({
      limit: historyLimit,
      before: nullish(Before),
      metadata: nullish(Metadata),
      checkpoint: nullish(CheckpointSelector),
      select: nullish(z.array(StateField).max(selectMax)),
    }),
    response: z.array(ThreadState),
    headers: historyHeaders,
    errors: ['not_found'],
  }),
  patchThreadState: route('patch', '/threads/:thread_id/state', {
    summary: 'Add metadata to the newest checkpoint of a thread',
    description:
      'Merged by key. Keys that the server sets, such as `source`, `step` and `run_id`, keep their values.',
    access: { resource: 'threads', action: 'update' },
    params: z.object({ thread_id: Id }),
    body: z.object({ metadata: Metadata }),
    status: 204,
    response: Empty,
    errors: ['not_found', 'conflict'],
  }),
};
