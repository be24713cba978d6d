import { randomUUID } from 'node:crypto';
import type { threadRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Access } from '../../access/access.ts';
import { everyRow, type RowFilter } from '../../storage/row-filter.ts';
import { Reply, type Handlers } from '../../api/handlers.ts';
import { paginated } from '../../api/pagination.ts';
import type { PruneService } from './prune-service.ts';
import { mayRead } from './may-read.ts';
import { stateHandlers } from './state-handlers.ts';
import type { StateService, Updater } from './state-service.ts';
import type { ThreadSearch, ThreadService } from './thread-service.ts';

/** Fields that a search reads only for those who ask: they live in checkpoints, not in the thread's row. */
const costly = new Set(['values', 'interrupts']);

const pick = <T extends object>(record: T, fields: readonly string[]): T =>
  Object.fromEntries(Object.entries(record).filter(([key]) => fields.includes(key))) as T;

const omitCostly = <T extends object>(record: T): T =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !costly.has(key))) as T;

export const threadHandlers = (
  threads: ThreadService,
  states: StateService,
  pruning: PruneService,
  updaterOf: (access: Access) => Updater,
  /** The ways of projects that come with a langgraph.json: search rows carry values and interrupts. */
  compat: boolean,
): Handlers<typeof threadRoutes> => ({
  createThread: async ({ body }, { access }) => {
    const { supersteps, ttl, thread_id = randomUUID(), ...rest } = body;
    const { value, filter } = await access.ask('threads:create', { thread_id, ...rest });
    if (supersteps && supersteps.length > 0) {
      // They write a state.
      const update = { thread_id, metadata: undefined, action: undefined };
      const { filter: writable } = await access.ask('threads:update', update);
      if (!writable.matches(value.metadata ?? {}))
        throw new Problem('forbidden', 'You may not write the state of such a thread.');
    }
    const thread = { ...value, if_exists: value.if_exists ?? 'raise', supersteps, ttl };
    const readable = thread.if_exists === 'do_nothing' ? await mayRead(access, { thread_id }) : everyRow;
    return threads.create(thread, { creatable: filter, readable }, updaterOf(access));
  },
  searchThreads: async ({ body }, { access }) => {
    const { select, sort_by, sort_order, ...asked } = body;
    const { value, filter } = await access.ask('threads:search', asked);
    const { limit, offset, ...wanted } = value;
    const page = { limit, offset, sort_by, sort_order };
    const found = await threads.search(
      wanted as ThreadSearch,
      page,
      select ? select.includes('values') : compat,
      filter,
    );
    const rows = found.threads.map((thread) =>
      select ? pick(thread, select) : compat ? thread : omitCostly(thread),
    );
    return paginated(rows, found.total, page);
  },
  countThreads: async ({ body }, { access }) => {
    const { value, filter } = await access.ask('threads:search', { ...body, limit: 0, offset: 0 });
    return threads.count(value as ThreadSearch, filter);
  },
  getThread: async ({ params }, { access }) => threads.get(params.thread_id, await mayRead(access, params)),
  patchThread: async ({ params, body }, call) => {
    const { value, filter } = await call.access.ask('threads:update', {
      ...params,
      metadata: body.metadata,
      action: undefined,
    });
    const thread = await threads.patch(params.thread_id, value.metadata ?? {}, filter, body.ttl);
    return call.header('prefer') === 'return=minimal' ? new Reply(thread, {}, 204) : thread;
  },
  deleteThread: async ({ params }, { access }) => {
    const { filter } = await access.ask('threads:delete', { ...params, run_id: undefined });
    await threads.delete(params.thread_id, filter);
  },
  pruneThreads: async ({ body }, { access }) => {
    const mayPrune = async (thread_id: string | undefined): Promise<RowFilter> => {
      const { filter } =
        body.strategy === 'delete'
          ? await access.ask('threads:delete', { thread_id, run_id: undefined })
          : await access.ask('threads:update', { thread_id, metadata: undefined, action: undefined });
      return filter;
    };
    const filters = new Map<string, RowFilter>();
    // Every operation asks its auth handler, also when there is nothing to do.
    if (body.thread_ids.length === 0) await mayPrune(undefined);
    for (const thread_id of new Set(body.thread_ids)) filters.set(thread_id, await mayPrune(thread_id));
    return { pruned_count: await pruning.prune(filters, body.strategy) };
  },
  copyThread: async ({ params }, { access }) => {
    const source = { ...params, access: await mayRead(access, params) };
    const thread_id = randomUUID();
    // What the copy says of itself beside what its source says: handlers add to it.
    const { value, filter } = await access.ask('threads:create', {
      thread_id,
      metadata: {},
      if_exists: undefined,
    });
    return threads.copy(source, { thread_id, access: filter, metadata: value.metadata ?? {} });
  },
  ...stateHandlers(states, updaterOf),
});
