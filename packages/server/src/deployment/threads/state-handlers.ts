import type { threadRoutes } from '@svc/contract';
import type { Access } from '../../auth/authorization/authorizer.ts';
import { type Handlers, RawJson, type Reply } from '../../api/handlers.ts';
import { JsonText } from '../../api/json-text.ts';
import { pageReply } from '../../api/pagination.ts';
import { mayRead } from './may-read.ts';
import type { StateService, Updater } from './state-service.ts';

interface Holder {
  checkpoint_id?: string | undefined;
  configurable?: { checkpoint_id?: string | undefined } | undefined;
}

/** The checkpoint that a client names, by its id or by a config that holds it. */
const idOf = (before: string | Holder | undefined): string | undefined =>
  typeof before === 'string' ? before : (before?.configurable?.checkpoint_id ?? before?.checkpoint_id);

const toPage = (page: Awaited<ReturnType<StateService['history']>>): Reply<RawJson> =>
  pageReply(RawJson.list(page.rows), page, { next: page.next });

type StateRoutes = Pick<
  typeof threadRoutes,
  | 'getThreadState'
  | 'getThreadStateAt'
  | 'getThreadStateAtCheckpoint'
  | 'updateThreadState'
  | 'getThreadHistory'
  | 'searchThreadHistory'
>;

export const stateHandlers = (
  states: StateService,
  updaterOf: (access: Access) => Updater,
): Handlers<StateRoutes> => ({
  getThreadState: async ({ params, query }, { access }) =>
    new RawJson(await states.get(params.thread_id, {}, await mayRead(access, params), query)),
  getThreadStateAt: async ({ params, query }, { access }) => {
    const { thread_id, checkpoint_id } = params;
    return new RawJson(
      await states.get(thread_id, { checkpoint_id }, await mayRead(access, { thread_id }), query),
    );
  },
  getThreadStateAtCheckpoint: async ({ params, body }, { access }) =>
    new RawJson(await states.get(params.thread_id, body.checkpoint, await mayRead(access, params), body)),
  updateThreadState: async ({ params, body }, { access }) => {
    const { filter } = await access.ask('threads:update', {
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
    return states.update(params.thread_id, update, at, { ...updaterOf(access), access: filter });
  },
  getThreadHistory: async ({ params, query }, { access }) =>
    toPage(await states.history(params.thread_id, query, await mayRead(access, params))),
  searchThreadHistory: async ({ params, body }, { access }) => {
    const { before, checkpoint, ...rest } = body;
    const history = { ...rest, before: idOf(before), checkpoint: checkpoint ?? undefined };
    return toPage(await states.history(params.thread_id, history, await mayRead(access, params)));
  },
});
