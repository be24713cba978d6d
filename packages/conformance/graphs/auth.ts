// Users by name: `Authorization: Bearer ann`. Each has their own threads, assistants and crons; all share the store.
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate((request) => {
    const [, name] = /^Bearer (ann|bob)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!name) throw new HTTPException(401, { message: 'Unknown user' });
    return { identity: name, permissions: [] };
  })
  .on('*', ({ event, value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    if (/:(create|create_run)$/.test(event)) payload.metadata = { ...payload.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('store', () => true);
