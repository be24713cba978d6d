import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentRoutes, type RouteShape } from '@svc/contract';
import { startTestServer, type TestServer } from '../server.ts';
import { openStream, projectWith, send, type WireResponse } from './wire.ts';

const app = 'https://app.example.com';
const key = 'a-key-of-thirty-two-letters-at-least';
const routes = Object.values(deploymentRoutes) as RouteShape[];

const opened: AsyncDisposable[] = [];
const start = async (
  cors: Record<string, unknown> | undefined,
  settings: Record<string, string> = {},
): Promise<TestServer> => {
  const project = await projectWith(cors === undefined ? {} : { http: { cors } });
  const server = await startTestServer({ executors: 'none', project: project.file, settings });
  opened.push(project, server);
  return server;
};

const corsOf = ({ headers }: Pick<WireResponse, 'headers'>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  );

const preflight = (
  server: TestServer,
  origin: string,
  path = '/threads',
  requestedHeaders = 'content-type,x-api-key',
) =>
  send(server, {
    method: 'OPTIONS',
    path,
    headers: [
      ['origin', origin],
      ['access-control-request-method', 'POST'],
      ['access-control-request-headers', requestedHeaders],
    ],
  });

let off: TestServer;
let listed: TestServer;
beforeAll(async () => {
  off = await start(undefined);
  listed = await start(
    {
      allow_origins: [app, 'http://localhost:3000', 'null'],
      allow_origin_regex: String.raw`https://[a-z]+\.example\.org`,
      allow_credentials: true,
      expose_headers: ['X-Mine'],
    },
    { apiKeys: key },
  );
});
afterAll(async () => {
  for (const each of opened.toReversed()) await each[Symbol.asyncDispose]();
});

describe('without CORS', () => {
  it('no origin gets CORS headers', async () => {
    expect(corsOf(await send(off, { path: '/info', headers: [['origin', app]] }))).toEqual({});
    expect(corsOf(await preflight(off, app))).toEqual({});
  });

  it('OPTIONS still returns the methods', async () => {
    const answer = await preflight(off, app);
    expect([answer.status, answer.headers['allow']]).toEqual([204, 'POST, OPTIONS']);
  });
});

describe('with CORS', () => {
  it.each(routes)('a page of a listed origin may request $method $path, with no key yet', async (route) => {
    const path = route.path.replaceAll(/:\w+/g, 'x');
    const answer = await preflight(listed, app, path);
    expect([answer.status, answer.body, corsOf(answer)]).toEqual([
      204,
      '',
      {
        'access-control-allow-origin': app,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'content-type,x-api-key',
        'access-control-expose-headers': expect.any(String) as string,
        'access-control-max-age': '600',
        vary: 'Origin, Access-Control-Request-Headers',
      },
    ]);
  });

  const headers = {
    'access-control-allow-origin': app,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers':
      'Location, Content-Location, X-Request-Id, X-Pagination-Total, X-Pagination-Next, X-Pagination-Cursor, X-Pagination-Limited-By, Mcp-Session-Id, Retry-After, X-Mine',
    vary: 'Origin',
  };
  const shown = [
    ['origin', app],
    ['x-api-key', key],
    ['content-type', 'application/json'],
  ] as const;

  it('may read responses, rejections and 404s', async () => {
    const answers = [
      await send(listed, { path: '/info', headers: shown }),
      await send(listed, { method: 'POST', path: '/threads', headers: [['origin', app]] }),
      await send(listed, { path: '/threads/x', headers: shown }),
      await send(listed, { path: '/nothing', headers: shown }),
      await send(listed, { method: 'DELETE', path: '/info', headers: shown }),
      await send(listed, { path: '//info', headers: shown }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 422, 404, 405, 400]);
    for (const answer of answers) expect(corsOf(answer)).toEqual(headers);
  });

  it('may read a stream and a deferred response', async () => {
    const body = JSON.stringify({ assistant_id: 'barrier', input: {} });
    for (const path of ['/runs/stream', '/runs/wait']) {
      const stream = await openStream(listed, { method: 'POST', path, headers: shown, body });
      stream.socket.destroy();
      expect([stream.status, corsOf(stream)]).toEqual([200, headers]);
    }
  });

  it.each([
    ['https://app.example.com', true],
    ['http://localhost:3000', true],
    ['https://team.example.org', true],
    ['null', true],
    ['http://app.example.com', false],
    ['https://app.example.com:444', false],
    ['https://app.example.com.evil.example', false],
    ['https://evil.example', false],
    ['https://team.example.org.evil.example', false],
    ['https://evil.example/https://team.example.org', false],
    ['https://teamXexample.org', false],
    [`https://${'a'.repeat(600)}.example.org`, false],
    ['', false],
  ])('a page of %j is allowed: %j', async (origin, isAllowed) => {
    for (const answer of [
      await send(listed, { path: '/info', headers: [['origin', origin]] }),
      await preflight(listed, origin),
    ]) {
      expect(answer.headers['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
      expect(answer.headers['vary']).toMatch(/^Origin/);
      expect(corsOf(answer)).toEqual(isAllowed ? expect.anything() : { vary: 'Origin' });
    }
  });

  it('a page without an origin needs to be listed', async () => {
    const server = await start({ allow_origin_regex: '.*' });
    const isAllowed = async (origin: string) =>
      'access-control-allow-origin' in
      (await send(server, { path: '/info', headers: [['origin', origin]] })).headers;
    expect([await isAllowed('null'), await isAllowed('https://any.example')]).toEqual([false, true]);
  });

  it('for every origin does not return the origin', async () => {
    const server = await start({
      allow_origins: ['*'],
      allow_methods: ['get'],
      allow_headers: ['x-a'],
      max_age: 5,
    });
    expect(corsOf(await preflight(server, app))).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'x-a',
      'access-control-max-age': '5',
    });
    expect(corsOf(await send(server, { path: '/info', headers: [['origin', app]] }))).not.toHaveProperty(
      'vary',
    );
  });

  it('allows listed pages to use a server without authentication, and no others', async () => {
    const server = await start(undefined, { corsOrigins: app });
    const create = (origin: string) =>
      send(server, {
        method: 'POST',
        path: '/threads',
        headers: [
          ['origin', origin],
          ['sec-fetch-site', 'cross-site'],
          ['content-type', 'application/json'],
        ],
        body: '{}',
      });
    expect((await create(app)).status).toBe(200);
    const refused = await create('https://evil.example');
    expect([refused.status, corsOf(refused)]).toEqual([403, { vary: 'Origin' }]);
  });

  it('answers no preflight for a Host that is not its own', async () => {
    const server = await start(undefined, { corsOrigins: app });
    const headers = [
      ['host', 'evil.example'],
      ['origin', app],
      ['access-control-request-method', 'POST'],
    ] as const;
    expect((await send(server, { method: 'OPTIONS', path: '/threads', headers })).status).toBe(421);
  });
});
