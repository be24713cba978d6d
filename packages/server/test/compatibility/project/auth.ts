// Users by token. Ada reads and writes what is hers; Bob may read only; nobody may delete an assistant.
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

const users: Record<string, { identity: string; permissions: string[] }> = {
  ada: { identity: 'ada', permissions: ['write'] },
  bob: { identity: 'bob', permissions: [] },
};

export const auth = new Auth()
  .authenticate((request) => {
    const user = users[request.headers.get('authorization')?.replace('Bearer ', '') ?? ''];
    if (!user)
      throw new HTTPException(401, { message: 'Unknown token', headers: { 'www-authenticate': 'Bearer' } });
    return { ...user, team: 'tests' };
  })
  .on('threads', ({ user, value }) => {
    const owned = value as { metadata?: Record<string, unknown> };
    owned.metadata = { ...owned.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('threads:create', ({ user, permissions, value }) => {
    if (!permissions.includes('write')) return false;
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('assistants:delete', () => false)
  .on('store', ({ user, value }) => {
    value.namespace = [user.identity, ...(value.namespace ?? [])];
  });
