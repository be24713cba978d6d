import type { threadRoutes } from '@svc/contract';
import { Reply, type Handlers } from '../handlers.ts';
import { paginated } from '../pagination.ts';
import type { PruneService } from './prune-service.ts';
import type { StateService } from './state-service.ts';
import type { ThreadService } from './thread-service.ts';

/** Fields that a search reads only for those who ask: they live in checkpoints, not in the thread's row. */
const costly = new Set(['values', 'interrupts']);

const pick = <T extends object>(record: T, fields: readonly string[]): T =>
  Object.fromEntries(Object.entries(record).filter(([key]) => fields.includes(key))) as T;

const omitCostly = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !costly.has(key))) as T;

interface Holder {
  checkpoint_id?: string | undefined;
  configurable?: { checkpoint_id?: string | undefined } | undefined;
}

/** The checkpoint that a client names, by its id or by a config that holds it. */
const idOf = (before: string | Holder | undefined): string | undefined =>
  typeof before === 'string' ? before : (before?.configurable?.checkpoint_id ?? before?.checkpoint_id);

export const threadHandlers = (
  threads: ThreadService,
  states: StateService,
  pruning: PruneService,
  /** The ways of projects that come with a langgraph.json: search rows carry values and interrupts. */
  compat: boolean,
): Handlers<typeof threadRoutes> => ({
  createThread: ({ body }) => threads.create(body),
  searchThreads: async ({ body }) => {
    const { select, limit, offset, sort_by, sort_order, ...filter } = body;
    const page = { limit, offset, sort_by, sort_order };
    const found = await threads.search(filter, page, select ? select.includes('values') : compat);
    const rows = found.threads.map((thread) =>
      select ? pick(thread, select) : compat ? thread : omitCostly(thread),
    );
    return paginated(rows, found.total, page);
  },
  countThreads: ({ body }) => threads.count(body),
  getThread: ({ params }) => threads.get(params.thread_id),
  patchThread: async ({ params, body }, call) => {
    const thread = await threads.patch(params.thread_id, body.metadata ?? {}, body.ttl);
    return call.header('prefer') === 'return=minimal' ? new Reply(thread, {}, 204) : thread;
  },
  deleteThread: async ({ params }) => {
    await threads.delete(params.thread_id);
  },
  pruneThreads: async ({ body }) => ({
    pruned_count: await pruning.prune(body.thread_ids, body.strategy),
  }),
  copyThread: ({ params }) => threads.copy(params.thread_id),
  getThreadState: ({ params, query }) => states.get(params.thread_id, {}, query.subgraphs),
  getThreadStateAt: ({ params, query }) =>
    states.get(params.thread_id, { checkpoint_id: params.checkpoint_id }, query.subgraphs),
  getThreadStateAtCheckpoint: ({ params, body }) =>
    states.get(params.thread_id, body.checkpoint, body.subgraphs),
  updateThreadState: ({ params, body }) => {
    const { values, as_node, checkpoint, checkpoint_id } = body;
    const update = { values, ...(as_node ? { as_node } : {}) };
    return states.update(params.thread_id, update, {
      checkpoint_id: checkpoint?.checkpoint_id ?? checkpoint_id ?? undefined,
      checkpoint_ns: checkpoint?.checkpoint_ns,
    });
  },
  getThreadHistory: ({ params, query }) => states.history(params.thread_id, query),
  searchThreadHistory: ({ params, body }) => {
    const { before, checkpoint, ...rest } = body;
    return states.history(params.thread_id, {
      ...rest,
      before: idOf(before),
      checkpoint: checkpoint ?? undefined,
    });
  },
});
