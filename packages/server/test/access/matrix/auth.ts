// A user who chooses the results of the handlers: `Authorization: Bearer <event>=<action>`.
import { Auth, HTTPException } from '@svc/sdk/auth';

const owner = 'matrix';

const actions: Record<string, (value: Record<string, unknown>) => unknown> = {
  true: () => true,
  everything: () => ({}),
  later: () => Promise.resolve(true),
  false: () => false,
  filter: () => ({ owner: 'somebody else' }),
  own: () => ({ owner }),
  nothing: () => undefined,
  null: () => null,
  throw: () => {
    throw new Error('a secret of the handler');
  },
  reject: () => Promise.reject(new Error('a secret of the handler')),
  refuse: () => {
    throw new HTTPException(418, { message: 'a teapot', headers: { 'x-pot': 'tea' } });
  },
  hang: () => new Promise(() => undefined),
  number: () => 42,
  text: () => 'owner',
  list: () => [],
  undefined: () => ({ owner: undefined }),
  operator: () => ({ owner: { $ne: 'x' } }),
  function: () => () => true,
  // After these the payload no longer fits the event.
  break: (value) => {
    for (const key of Object.keys(value)) value[key] = { toJSON: 1n };
    return true;
  },
  drop: (value) => {
    for (const key of Object.keys(value)) delete value[key];
    value['metadata'] = 'text';
    value['key'] = '';
    value['limit'] = -1;
    value['thread_id'] = 'no id';
    return true;
  },
};

export const auth = new Auth()
  .authenticate((request) => {
    const [, event = '', action = ''] =
      /^Bearer (\S+)=(\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    return { identity: owner, when: event, action };
  })
  .on('*', ({ event, value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    if (/:(create|create_run)$/.test(event)) payload.metadata = { ...payload.metadata, owner };
    return event === user['when'] ? (actions[user['action'] as string]?.(payload) as boolean) : true;
  });
