import { randomUUID } from 'node:crypto';
import { Thread, type threadRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Access } from '../../auth/authorization/authorizer.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import { type Handlers, RawJson, Reply } from '../../api/handlers.ts';
import { textPage } from '../../api/pagination.ts';
import type { PruneService } from './prune-service.ts';
import { mayRead } from './may-read.ts';
import { stateHandlers } from './state-handlers.ts';
import type { StateService, Updater } from './state-service.ts';
import type { ThreadSearch, ThreadService } from './thread-service.ts';

const fields = Object.keys(Thread.shape);
/** Fields that a search shows only to those who ask: they are read from checkpoints, or may be as long as a graph likes. */
const costly = new Set(['values', 'interrupts']);
const usual = new Set(fields.filter((name) => !costly.has(name)));

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
    return new RawJson(await threads.create(thread, { creatable: filter, readable }, updaterOf(access)));
  },
  searchThreads: async ({ body }, { access }) => {
    const { select, sort_by, sort_order, ...asked } = body;
    const { value, filter } = await access.ask('threads:search', asked);
    const { limit, offset, ...wanted } = value;
    const page = { limit, offset, sort_by, sort_order };
    const shown = select ? new Set<string>(select) : compat ? new Set(fields) : usual;
    const found = await threads.search(wanted as ThreadSearch, page, shown, filter);
    return textPage(found.page, offset, found.total);
  },
  countThreads: async ({ body }, { access }) => {
    const { value, filter } = await access.ask('threads:search', { ...body, limit: 0, offset: 0 });
    return threads.count(value as ThreadSearch, filter);
  },
  getThread: async ({ params }, { access }) =>
    new RawJson(await threads.get(params.thread_id, await mayRead(access, params))),
  patchThread: async ({ params, body }, call) => {
    const { value, filter } = await call.access.ask('threads:update', {
      ...params,
      metadata: body.metadata,
      action: undefined,
    });
    const thread = await threads.patch(params.thread_id, value.metadata ?? {}, filter, body.ttl);
    return new Reply(new RawJson(thread), { isEmpty: call.header('prefer') === 'return=minimal' });
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
    const copy = { thread_id, access: filter, metadata: value.metadata ?? {} };
    return new RawJson(await threads.copy(source, copy));
  },
  ...stateHandlers(states, updaterOf),
});
