import { randomUUID } from 'node:crypto';
import { Thread, type threadRoutes, ThreadStatus } from '@svc/contract';
import type * as z from 'zod';
import { invalid, Problem } from '@svc/contract/problem';
import { cursorOfBody, foreignCursor, isId, toCursor } from '../../api/cursor.ts';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import type { ListedThread, ThreadPage } from '../../storage/deployment/threads/threads.ts';
import { everyRow, type RowFilter } from '../../storage/postgres/row-filter.ts';
import { type Handlers, RawJson, Reply } from '../../api/handlers.ts';
import { pageReply } from '../../api/pagination.ts';
import type { SortedPlace } from '../../storage/postgres/bounded-page.ts';
import { toTime } from '../../api/time.ts';
import { parseExtracts } from './extract-paths.ts';
import type { PruneService } from './prune-service.ts';
import { readAccess } from './read-access.ts';
import type { StateService, Updater } from './state-service.ts';
import type { ThreadSearch, ThreadService } from './thread-service.ts';
import { JsonText } from '../../api/json-text.ts';

const fields = Object.keys(Thread.shape);
/** Fields that a search returns only on request: they are read from checkpoints, or may be very long. */
const costly = new Set(['values', 'interrupts']);
const usual = new Set(fields.filter((name) => !costly.has(name)));
/** The config of a new thread is empty. */
const created = new Set(fields.filter((name) => name !== 'config'));

type Asked = Pick<z.output<typeof threadRoutes.countThreads.body>, keyof ThreadSearch> & {
  limit: number;
  offset: number;
};

/** The payload of the event `threads:search`, which auth handlers get, and the other filters of the search. */
const splitFilters = ({ ids, metadata, values, status, limit, offset, ...others }: Asked) => ({
  event: { ids, metadata, values, status, limit, offset },
  others,
});

/** `compat`: for projects that have a langgraph.json, results include values and interrupts. */
const searchHandlers = (
  threads: ThreadService,
  compat: boolean,
): Handlers<Pick<typeof threadRoutes, 'searchThreads' | 'countThreads'>> => ({
  searchThreads: async ({ body }, { authorizer }) => {
    const { select, extract, sort_by, sort_order, cursor, ...requested } = body;
    if (cursor !== undefined && requested.offset > 0)
      throw invalid(['body', 'offset'], 'offset cannot be combined with cursor');
    const after = cursor === undefined ? undefined : threadPlace(cursor, { sort_by, sort_order });
    const { event, others } = splitFilters(requested);
    const { value, access } = await authorizer.authorize('threads:search', event);
    const { limit, offset, ...wanted } = { ...value, ...others };
    const page = { limit, offset, sort_by, sort_order, after };
    const extracts = parseExtracts(extract ?? {});
    const shown = select ? new Set<string>(select) : compat ? new Set(fields) : usual;
    const found = await threads.search(wanted as ThreadSearch, page, { fields: shown, extracts }, access);
    const { last, ...threadsPage } = found.page;
    return pageReply(RawJson.list(threadsPage.rows), threadsPage, {
      next: after ? undefined : offset + threadsPage.rows.length,
      cursor: last && threadCursor(last, page),
      total: found.total,
    });
  },
  countThreads: async ({ body }, { authorizer }) => {
    const { event, others } = splitFilters({ ...body, limit: 0, offset: 0 });
    const { value, access } = await authorizer.authorize('threads:search', event);
    return threads.count({ ...value, ...others } as ThreadSearch, access);
  },
});

export const threadHandlers = (
  threads: ThreadService,
  states: StateService,
  pruning: PruneService,
  updaterOf: (authorizer: Authorizer) => Updater,
  compat: boolean,
): Handlers<typeof threadRoutes> => ({
  createThread: async ({ body }, { authorizer }) => {
    const { supersteps, ttl, thread_id = randomUUID(), ...rest } = body;
    const { value, access } = await authorizer.authorize('threads:create', { thread_id, ...rest });
    if (supersteps && supersteps.length > 0) {
      // Supersteps write a state, so they need the permission for updates too.
      const update = { thread_id, metadata: undefined, action: undefined };
      const { access: writable } = await authorizer.authorize('threads:update', update);
      if (!writable.matches(value.metadata ?? {}))
        throw new Problem('forbidden', 'You may not write the state of this thread.');
    }
    const shown = compat ? undefined : created;
    const thread = { ...value, if_exists: value.if_exists ?? 'raise', supersteps, ttl, fields: shown };
    const readable =
      thread.if_exists === 'do_nothing' ? await readAccess(authorizer, { thread_id }) : everyRow;
    return new RawJson(await threads.create(thread, { creatable: access, readable }, updaterOf(authorizer)));
  },
  ...searchHandlers(threads, compat),
  getThread: async ({ params, query: { select } }, { authorizer }) => {
    const shown = select && new Set<string>(select);
    return new RawJson(await threads.get(params.thread_id, await readAccess(authorizer, params), shown));
  },
  getThreadStorage: async ({ params }, { authorizer }) =>
    threads.getUsage(params.thread_id, await readAccess(authorizer, params)),
  patchThread: async ({ params, body }, call) => {
    const { value, access } = await call.authorizer.authorize('threads:update', {
      ...params,
      metadata: body.metadata,
      action: undefined,
    });
    const thread = await threads.patch(params.thread_id, value.metadata ?? {}, access, body.ttl);
    return new Reply(new RawJson(thread), { isEmpty: call.header('prefer') === 'return=minimal' });
  },
  deleteThread: async ({ params }, { authorizer }) => {
    const { access } = await authorizer.authorize('threads:delete', { ...params, run_id: undefined });
    await threads.delete(params.thread_id, access);
  },
  pruneThreads: async ({ body }, { authorizer }) => {
    const pruneAccess = async (thread_id: string | undefined): Promise<RowFilter> => {
      const { access } =
        body.strategy === 'delete'
          ? await authorizer.authorize('threads:delete', { thread_id, run_id: undefined })
          : await authorizer.authorize('threads:update', {
              thread_id,
              metadata: undefined,
              action: undefined,
            });
      return access;
    };
    const filters = new Map<string, RowFilter>();
    // Every operation is authorized, also when there is nothing to do.
    if (body.thread_ids.length === 0) await pruneAccess(undefined);
    for (const thread_id of new Set(body.thread_ids)) filters.set(thread_id, await pruneAccess(thread_id));
    return { pruned_count: await pruning.prune(filters, body.strategy) };
  },
  copyThread: async ({ params }, { authorizer }) => {
    const source = { ...params, access: await readAccess(authorizer, params) };
    const thread_id = randomUUID();
    // Handlers may add metadata to the copy, in addition to the metadata of its source.
    const { value, access } = await authorizer.authorize('threads:create', {
      thread_id,
      metadata: {},
      if_exists: undefined,
    });
    const copy = { thread_id, access, metadata: value.metadata ?? {} };
    return new RawJson(await threads.copy(source, copy));
  },
  ...stateHandlers(states, updaterOf),
});

type Order = Pick<ThreadPage, 'sort_by' | 'sort_order'>;

/** A place in the order of the search, and that order. */
const threadCursor = (
  { place, thread_id }: Pick<ListedThread, 'place' | 'thread_id'>,
  { sort_by, sort_order }: Order,
): string => toCursor({ start_time: place, id: thread_id }, { sort_by, sort_order });

/** Clients send cursors, so the value must be one of the column. */
const isValueOf = (sort_by: Order['sort_by'], value: string): boolean => {
  if (sort_by === 'thread_id') return isId(value);
  if (sort_by === 'status') return ThreadStatus.safeParse(value).success;
  return toTime(value) !== undefined;
};

/** Throws invalid for a cursor of another order, and for text that is none. */
const threadPlace = (cursor: string, { sort_by, sort_order }: Order): SortedPlace => {
  const { start_time: value, id, more } = cursorOfBody(cursor);
  if (!isValueOf(sort_by, value)) throw foreignCursor();
  if (more['sort_by'] !== sort_by || more['sort_order'] !== sort_order)
    throw invalid(['body', 'cursor'], 'cursor belongs to a search with another sort_by or sort_order');
  return { value, id };
};

interface Holder {
  checkpoint_id?: string | undefined;
  configurable?: { checkpoint_id?: string | undefined } | undefined;
}

/** The checkpoint id in a request: as a string, or in a config. */
const idOf = (before: string | Holder | undefined): string | undefined =>
  typeof before === 'string' ? before : (before?.configurable?.checkpoint_id ?? before?.checkpoint_id);

const toPage = (page: Awaited<ReturnType<StateService['history']>>): Reply<RawJson> =>
  pageReply(RawJson.list(page.rows), page, { next: page.next });

type StateRoutes = Pick<
  typeof threadRoutes,
  | 'getThreadState'
  | 'getThreadStateValue'
  | 'getThreadStateAt'
  | 'getThreadStateAtCheckpoint'
  | 'updateThreadState'
  | 'patchThreadState'
  | 'getThreadHistory'
  | 'searchThreadHistory'
>;

export const stateHandlers = (
  states: StateService,
  updaterOf: (authorizer: Authorizer) => Updater,
): Handlers<StateRoutes> => ({
  getThreadState: async ({ params, query }, { authorizer }) =>
    new RawJson(await states.get(params.thread_id, {}, await readAccess(authorizer, params), query)),
  getThreadStateValue: async ({ params, query }, { authorizer }) => {
    const { checkpoint_id, checkpoint_ns, ...request } = query;
    const at = { checkpoint_id, checkpoint_ns };
    return new RawJson(
      await states.value(params.thread_id, at, await readAccess(authorizer, params), request),
    );
  },
  getThreadStateAt: async ({ params, query }, { authorizer }) => {
    const { thread_id, checkpoint_id } = params;
    return new RawJson(
      await states.get(thread_id, { checkpoint_id }, await readAccess(authorizer, { thread_id }), query),
    );
  },
  getThreadStateAtCheckpoint: async ({ params, body }, { authorizer }) =>
    new RawJson(
      await states.get(params.thread_id, body.checkpoint, await readAccess(authorizer, params), body),
    ),
  updateThreadState: async ({ params, body }, { authorizer }) => {
    const { access } = await authorizer.authorize('threads:update', {
      ...params,
      metadata: undefined,
      action: undefined,
    });
    const { values, as_node, checkpoint, checkpoint_id } = body;
    const sent = values instanceof JsonText ? { values_text: values.text } : { values };
    const update = { ...sent, ...(as_node ? { as_node } : {}) };
    const at = {
      checkpoint_id: checkpoint?.checkpoint_id ?? checkpoint_id ?? undefined,
      checkpoint_ns: checkpoint?.checkpoint_ns,
    };
    return states.update(params.thread_id, update, at, { ...updaterOf(authorizer), access });
  },
  patchThreadState: async ({ params, body }, { authorizer }) => {
    const { access } = await authorizer.authorize('threads:update', {
      ...params,
      metadata: undefined,
      action: undefined,
    });
    await states.patchMetadata(params.thread_id, body.metadata, access);
  },
  getThreadHistory: async ({ params, query }, { authorizer }) =>
    toPage(await states.history(params.thread_id, query, await readAccess(authorizer, params))),
  searchThreadHistory: async ({ params, body }, { authorizer }) => {
    const { before, checkpoint, ...rest } = body;
    const history = { ...rest, before: idOf(before), checkpoint: checkpoint ?? undefined };
    return toPage(await states.history(params.thread_id, history, await readAccess(authorizer, params)));
  },
});
