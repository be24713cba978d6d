// Users by name: `Authorization: Bearer alice`. Each has their own threads, assistants, crons and namespaces.
import { Auth, HTTPException, isStudioUser } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate((request) => {
    const [, name] = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!name)
      throw new HTTPException(401, { message: 'Who are you?', headers: { 'WWW-Authenticate': 'Bearer' } });
    return { identity: name, permissions: ['chat'], token: `secret-of-${name}` };
  })
  .on('*', ({ event, value, user }) => {
    if (isStudioUser(user)) return {};
    // Not for searches, where metadata would narrow the search: the filter alone must hide objects.
    const payload = value as { metadata?: Record<string, unknown> };
    if (/:(create|update|create_run)$/.test(event))
      payload.metadata = { ...payload.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('store', ({ user }) => (isStudioUser(user) ? {} : { namespace: { $contains: user.identity } }));
