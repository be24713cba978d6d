// A user whose handlers do what the user says: `Authorization: Bearer <event>=<deed>`.
import { Auth, HTTPException } from '@svc/sdk/auth';

const owner = 'matrix';

const deeds: Record<string, (value: Record<string, unknown>) => unknown> = {
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
  // Nothing of these is what the event is about any more.
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
    const [, event = '', deed = ''] =
      /^Bearer (\S+)=(\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    return { identity: owner, when: event, deed };
  })
  .on('*', ({ event, value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    if (/:(create|create_run)$/.test(event)) payload.metadata = { ...payload.metadata, owner };
    return event === user['when'] ? (deeds[user['deed'] as string]?.(payload) as boolean) : true;
  });
