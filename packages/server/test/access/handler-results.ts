// Every event of a handler, and every kind of result, for auth files in each language.
import { authEvents, type AuthEvent } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

type Sent = [method: string, path: string, body?: unknown];

const events = Object.keys(authEvents) as AuthEvent[];

/** The response for a filter that matches nothing. */
const filtered = (event: AuthEvent, body: unknown): [status: number, body?: unknown] => {
  if (event.endsWith(':search')) return [200, event === 'store:search' ? { items: [] } : []];
  if (event === 'store:list_namespaces') return [200, { namespaces: [] }];
  if (event === 'store:get') return [200, null];
  if (event === 'store:delete') return [204];
  return [/:(create|create_run|put)$/.test(event) ? 403 : 404, body];
};

/** `project`: a config file whose auth file returns what the token of a request names. */
export const testHandlerResults = (project: string): void => {
  let server: TestServer;
  /** Gives up on a handler soon; for handlers that hang only. */
  let impatient: TestServer;
  const ids = { thread_id: '', run_id: '', assistant_id: '', cron_id: '' };

  const call = (event: string, action: string, [method, path, body]: Sent, at: TestServer = server) =>
    at.call(method, path, body, { authorization: `Bearer ${event}=${action}` });

  beforeAll(async () => {
    // Servers that share a database need the same key.
    const encryptionKey = 'ab'.repeat(32);
    server = await startTestServer({ project, settings: { encryptionKey } });
    impatient = await startTestServer({
      project,
      database: server.database,
      executors: 'none',
      settings: { encryptionKey, authTimeoutMs: 150 },
    });
    const make = async (sent: Sent) => (await call('-', '-', sent)).body as typeof ids;
    ids.thread_id = (await make(['POST', '/threads', { metadata: { graph_id: 'probe' } }])).thread_id;
    ids.assistant_id = (await make(['POST', '/assistants', { graph_id: 'probe' }])).assistant_id;
    const schedule = { assistant_id: 'probe', schedule: '0 0 1 1 *' };
    ids.cron_id = (await make(['POST', '/runs/crons', schedule])).cron_id;
    await make(['PUT', '/store/items', { namespace: ['a'], key: 'k', value: { owner: 'matrix' } }]);
    const run = { assistant_id: 'probe', input: { action: 'user' } };
    ids.run_id = (await make(['POST', `/threads/${ids.thread_id}/runs`, run])).run_id;
    await call('-', '-', ['GET', `/threads/${ids.thread_id}/runs/${ids.run_id}/join`]);
  });
  afterAll(async () => {
    await impatient[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** A request for each event; created for each use, so that a request that deletes finds an object. */
  const requests: Record<AuthEvent, () => Promise<Sent> | Sent> = {
    'threads:create': () => ['POST', '/threads', { metadata: { from: 'client' } }],
    'threads:read': () => ['GET', `/threads/${ids.thread_id}`],
    'threads:update': () => ['PATCH', `/threads/${ids.thread_id}`, { metadata: { from: 'client' } }],
    'threads:delete': async () => {
      const thread = (await call('-', '-', ['POST', '/threads', {}])).body as typeof ids;
      return ['DELETE', `/threads/${thread.thread_id}`];
    },
    'threads:search': () => ['POST', '/threads/search', {}],
    'threads:create_run': () => ['POST', '/runs/wait', { assistant_id: 'probe', input: { action: 'user' } }],
    'assistants:create': () => ['POST', '/assistants', { graph_id: 'probe' }],
    'assistants:read': () => ['GET', `/assistants/${ids.assistant_id}`],
    'assistants:update': () => ['PATCH', `/assistants/${ids.assistant_id}`, { name: 'changed' }],
    'assistants:delete': async () => {
      const sent: Sent = ['POST', '/assistants', { graph_id: 'probe' }];
      return ['DELETE', `/assistants/${((await call('-', '-', sent)).body as typeof ids).assistant_id}`];
    },
    'assistants:search': () => ['POST', '/assistants/search', {}],
    'crons:create': () => ['POST', '/runs/crons', { assistant_id: 'probe', schedule: '0 0 1 1 *' }],
    'crons:read': () => ['GET', `/runs/crons/${ids.cron_id}`],
    'crons:update': () => ['PATCH', `/runs/crons/${ids.cron_id}`, { enabled: true }],
    'crons:delete': async () => {
      const sent: Sent = ['POST', '/runs/crons', { assistant_id: 'probe', schedule: '0 0 1 1 *' }];
      return ['DELETE', `/runs/crons/${((await call('-', '-', sent)).body as typeof ids).cron_id}`];
    },
    'crons:search': () => ['POST', '/runs/crons/search', {}],
    'store:put': () => ['PUT', '/store/items', { namespace: ['a'], key: 'p', value: { owner: 'matrix' } }],
    'store:get': () => ['GET', '/store/items?namespace=a&key=k'],
    'store:delete': () => ['DELETE', '/store/items', { namespace: ['a'], key: 'none' }],
    'store:search': () => ['POST', '/store/items/search', {}],
    'store:list_namespaces': () => ['POST', '/store/namespaces', {}],
  };

  describe.each(events)('a handler for %s', (event) => {
    const send = async (action: string) => call(event, action, await requests[event]());

    it.each(['true', 'everything', 'later'])('that returns %s allows the request', async (action) => {
      const answer = await send(action);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    });

    it('that returns false forbids the request', async () => {
      expect(await send('false')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    });

    it.each(['nothing', 'null'])(
      'that returns %s forbids the request with a message that lists valid results',
      async (action) => {
        const answer = await send(action);
        expect(answer.status).toBe(403);
        expect((answer.body as { message: string }).message).toContain(`for ${event} returned nothing`);
      },
    );

    it('that returns a filter hides objects that do not match', async () => {
      const answer = await send('filter');
      const [status, body] = filtered(event, answer.body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
      if (body !== undefined) expect(answer.body).toEqual(body);
    });

    it.each(['throw', 'reject'])(
      'that fails (%s) forbids the request and exposes nothing',
      async (action) => {
        const answer = await send(action);
        expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
        expect(JSON.stringify(answer.body)).not.toContain('secret');
      },
    );

    it('that throws an HTTPException determines the response', async () => {
      const answer = await send('refuse');
      expect(answer).toMatchObject({ status: 418, body: { detail: 'a teapot' } });
      expect(answer.headers.get('x-pot')).toBe('tea');
    });

    it('that hangs times out', async () => {
      const answer = await call(event, 'hang', await requests[event](), impatient);
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    });

    it.each(['number', 'text', 'list', 'undefined', 'operator', 'function'])(
      'that returns an invalid result (%s) forbids the request',
      async (action) => {
        expect(await send(action)).toMatchObject({ status: 500, body: { code: 'internal' } });
      },
    );

    it.each(['break', 'drop'])('that makes the payload invalid (%s) forbids the request', async (action) => {
      const answer = await send(action);
      // When the event needs nothing of the payload, an empty one is valid and the original request is used.
      const isHarmless = answer.status < 300 && action === 'drop' && /threads:(read|delete)/.test(event);
      if (!isHarmless) expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 500 });
    });
  });

  describe('metadata that a handler adds to the payload', () => {
    it('is stored with the created object', async () => {
      for (const event of ['threads:create', 'assistants:create', 'crons:create'] as const) {
        const answer = await call('-', '-', await requests[event]());
        expect(answer.body).toMatchObject({ metadata: { owner: 'matrix', svc_auth_user_id: 'matrix' } });
      }
      const run = { assistant_id: 'probe', input: { action: 'user' }, if_not_exists: 'create' };
      const thread_id = crypto.randomUUID();
      const made = await call('-', '-', ['POST', `/threads/${thread_id}/runs`, run]);
      expect(made.body).toMatchObject({ metadata: { owner: 'matrix', svc_auth_user_id: 'matrix' } });
      const thread = await call('-', '-', ['GET', `/threads/${thread_id}`]);
      expect(thread.body).toMatchObject({ metadata: { owner: 'matrix', svc_auth_user_id: 'matrix' } });
      await call('-', '-', ['GET', `/threads/${thread_id}/runs/${(made.body as typeof ids).run_id}/join`]);
    });
  });

  it('is tested for every event', () => {
    expect(Object.keys(requests).toSorted()).toEqual(Object.keys(authEvents).toSorted());
  });
};
