import type { threadRoutes } from '@svc/contract';
import type { Authorizer } from '../../auth/authorization/authorizer.ts';
import { type Handlers, RawJson, type Reply } from '../../api/handlers.ts';
import { JsonText } from '../../api/json-text.ts';
import { pageReply } from '../../api/pagination.ts';
import { readAccess } from './read-access.ts';
import type { StateService, Updater } from './state-service.ts';

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
