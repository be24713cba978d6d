import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { send } from './wire.ts';
import { fixture } from '../fixture.ts';

const first = 'first-key-0123456789-0123456789-01';
const second = 'second-key-0123456789-0123456789-0';

const server = fixture(() => startTestServer({ settings: { apiKeys: `${first}, ${second}` } }));

const routes = Object.entries(deploymentRoutes) as [string, RouteShape][];
const pathOf = ({ path }: RouteShape): string => path.replaceAll(/:\w+/g, () => randomUUID());

const search = (headers: readonly (readonly [string, string])[], path = '/threads/search') =>
  send(server, {
    method: 'POST',
    path,
    headers: [['content-type', 'application/json'], ...headers],
    body: '{}',
  });

describe('a server with API keys', () => {
  it.each(routes.filter(([, { access }]) => access !== 'public'))(
    'answers %s only with a key',
    async (_, route) => {
      const request = { method: route.method.toUpperCase(), path: pathOf(route) };
      const refused = await send(server, request);
      expect(refused.status).toBe(401);
      expect(JSON.parse(refused.body)).toMatchObject({
        code: 'unauthenticated',
        message: 'This server requires an API key in the header x-api-key.',
      });
    },
  );

  it.each(routes.filter(([, { access }]) => access === 'public'))(
    'answers %s without a key',
    async (_, route) => {
      // A path with a parameter names something that does not exist.
      const expected = route.path.includes(':') ? 404 : 200;
      // The server is ready once an executor has loaded the graphs.
      await eventually(async () =>
        expect((await send(server, { path: pathOf(route) })).status).toBe(expected),
      );
    },
  );

  it.each([first, second])('accepts each of its keys: %s', async (key) => {
    expect((await search([['X-Api-Key', key]])).status).toBe(200);
  });

  it.each([
    ['another', 'third-key-0123456789'],
    ['the first half of one', first.slice(0, 10)],
    ['one and a letter', `${first}x`],
    ['one in capitals', first.toUpperCase()],
    ['all of them at once', `${first}, ${second}`],
    ['none', ''],
    ['a very long one', 'k'.repeat(10_000)],
  ])('rejects %s', async (_, key) => {
    const refused = await search([['x-api-key', key]]);
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([401, { code: 'unauthenticated' }]);
    expect(refused.body).not.toContain(first);
  });

  it('reads a key only from its header', async () => {
    expect((await search([['authorization', `Bearer ${first}`]])).status).toBe(401);
    expect((await search([['cookie', `x-api-key=${first}`]])).status).toBe(401);
    expect((await search([], `/threads/search?x-api-key=${first}`)).status).toBe(401);
    expect((await search([['x-auth-scheme', 'langsmith']])).status).toBe(401);
  });

  it('authenticates before it reads the body', async () => {
    const refused = await send(server, { method: 'POST', path: '/threads', body: '{"broken' });
    expect(refused.status).toBe(401);
  });

  it('accepts any Host, since a page that calls it has no key', async () => {
    const named = await search([
      ['host', 'svc.example.com'],
      ['x-api-key', first],
      ['origin', 'https://evil.example'],
    ]);
    expect(named.status).toBe(200);
  });
});
