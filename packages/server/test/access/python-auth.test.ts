// A server whose auth file is in Python.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixture } from '../fixture.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';

const project = fileURLToPath(new URL('./project/python.json', import.meta.url));

describe.skipIf(whyNoPythonClients() !== undefined)('a server with an auth file in Python', () => {
  const server = fixture(() => startTestServer({ project, executors: 'none' }));
  const call = (user: string, method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${user}` });

  it('returns 401 with the message and the headers of authenticate', async () => {
    const answer = await server.call('POST', '/threads', {});
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', detail: 'Who are you?' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('shows users only what the filters of its handlers match', async () => {
    const made = await call('alice', 'POST', '/threads', { metadata: { topic: 'x' } });
    expect(made.body).toMatchObject({ metadata: { topic: 'x', owner: 'alice', svc_auth_user_id: 'alice' } });
    const { thread_id } = made.body as { thread_id: string };
    expect((await call('alice', 'GET', `/threads/${thread_id}`)).status).toBe(200);
    expect((await call('bob', 'GET', `/threads/${thread_id}`)).status).toBe(404);
    expect((await call('bob', 'POST', '/threads/search', {})).body).toEqual([]);
  });

  it('keeps the namespaces of users apart in the store', async () => {
    const item = { namespace: ['alice'], key: 'k', value: { note: 1 } };
    expect((await call('alice', 'PUT', '/store/items', item)).status).toBe(204);
    expect((await call('bob', 'GET', '/store/items?namespace=alice&key=k')).body).toBeNull();
    expect((await call('bob', 'PUT', '/store/items', item)).status).toBe(403);
  });
});
