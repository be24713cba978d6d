// Users by name: `Authorization: Bearer alice`. Each has their own threads, and `supervisor` sees those of all; assistants are for everybody.
import { Auth, HTTPException } from '@svc/sdk/auth';

export const auth = new Auth()
  .authenticate((request) => {
    const [, name] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!name) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: name, permissions: [] };
  })
  .on('*', ({ event, value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    if (/:(create|update|create_run)$/.test(event))
      payload.metadata = { ...payload.metadata, owner: user.identity };
    return user.identity === 'supervisor' ? {} : { owner: user.identity };
  })
  .on('assistants', () => ({}))
  .on('store', ({ user }) => ({ namespace: { $contains: user.identity } }));
