// Authentication: what authenticate may return, what it receives, and servers that do not start without it.
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { authProjects, type AuthProjects } from './auth-projects.ts';

const projects = authProjects();
afterAll(() => projects[Symbol.dispose]());
const { dir, graph } = projects;
const serve: AuthProjects['serve'] = (code, options) =>
  projects.serve(code, { executors: 'none', ...options });
const project: AuthProjects['write'] = (...args) => projects.write(...args);

const createThread = (server: TestServer, headers: Record<string, string> = {}) =>
  server.call('POST', '/threads', {}, headers);

describe('an auth file', () => {
  const broken: [string, string, RegExp][] = [
    ['with a syntax error', 'export const auth = ;', /cannot be loaded/],
    ['that throws', "throw new Error('no database');", /cannot be loaded: no database/],
    ['without the export', 'export const other = new Auth();', /does not export auth; it exports other/],
    [
      'whose export is not an Auth object',
      'export const auth = { authenticate: () => 1 };',
      /is not an Auth object/,
    ],
    [
      'without authenticate',
      "export const auth = new Auth().on('*', () => true);",
      /has no authenticate handler/,
    ],
    [
      'with a handler of an action that there is not',
      "export const auth = new Auth().authenticate(() => 'a').on('threads:serach' as '*', () => true);",
      /\.on\("threads:serach"\) does not register a handler/,
    ],
    [
      'with a handler of no event',
      "export const auth = new Auth().authenticate(() => 'a').on('things' as '*', () => true);",
      /\.on\("things"\) does not register a handler/,
    ],
  ];
  it.each(broken)('%s keeps the server from starting, with a message', async (_, code, message) => {
    await expect(serve(code)).rejects.toThrow(message);
  });

  it('that does not exist is an error of the configuration', async () => {
    const missing = project({ path: './auth.ts:auth' }, {});
    await expect((async () => startTestServer({ project: missing }))()).rejects.toThrow(/there is no file/);
  });

  it('may be CommonJS, and sees the environment variables of svc.json', async () => {
    const code = `const { Auth } = require('@langchain/langgraph-sdk/auth');
      exports.auth = new Auth().authenticate(() => process.env.AUTH_TEST_NAME).on('*', () => true);`;
    const file = project({ path: './auth.cjs:auth' }, { 'auth.cjs': code });
    const text = `{"env":{"AUTH_TEST_NAME":"from-env"},"graphs":{"probe":${JSON.stringify(graph)}},"auth":{"path":"./${file.slice(dir.length + 1, -5)}-auth.cjs:auth"}}`;
    writeFileSync(file, text);
    await using server = await startTestServer({ executors: 'none', project: file });
    expect((await createThread(server)).body).toMatchObject({ metadata: { svc_auth_user_id: 'from-env' } });
  });
});

describe('authenticate', () => {
  const byHeader = `export const auth = new Auth()
    .authenticate(async (request) => JSON.parse(request.headers.get('x-answer') ?? 'null'))
    .on('*', () => true);`;
  let server: TestServer;
  beforeAll(async () => {
    server = await serve(byHeader);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const answer = (value: unknown) => createThread(server, { 'x-answer': JSON.stringify(value) });

  const users: [string, unknown][] = [
    ['a text', 'ann'],
    ['an object', { identity: 'ann' }],
    ['more than is needed', { identity: 'ann', permissions: ['a'], display_name: 'Ann', org: { id: 7 } }],
  ];
  it.each(users)('may return %s', async (_, value) => {
    expect(await answer(value)).toMatchObject({
      status: 200,
      body: { metadata: { svc_auth_user_id: 'ann' } },
    });
  });

  const garbage: unknown[] = [
    null,
    7,
    true,
    [],
    ['ann'],
    {},
    { identity: '' },
    { identity: '  ' },
    { identity: 7 },
    { identity: null },
    { identity: 'x'.repeat(257) },
    { identity: 'ann', permissions: 'all' },
    { identity: 'ann', permissions: [1] },
    { name: 'ann' },
    'a\u0000b',
    '\ud800',
  ];
  const named = garbage.map((value) => [JSON.stringify(value).slice(0, 40), value]);
  it.each(named)('may not return %s', async (_, value) => {
    expect(await answer(value)).toMatchObject({ status: 500, body: { code: 'internal' } });
  });

  it.each([
    'svc-studio-user',
    'langgraph-studio-user',
    'SVC-Studio-User',
    '*',
    { identity: 'system' },
    { identity: 'ann', is_authenticated: false },
  ])('rejects the reserved or unauthenticated user %j', async (value) => {
    expect(await answer(value)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  describe('of a stock project', () => {
    let stock: TestServer;
    beforeAll(async () => {
      stock = await serve(byHeader, { compat: true });
    });
    afterAll(() => stock[Symbol.asyncDispose]());
    const stockAnswer = (value: unknown) => createThread(stock, { 'x-answer': JSON.stringify(value) });

    it.each([
      '',
      { identity: '' },
      'anonymous',
      { identity: 'system' },
      { identity: 'ann', is_authenticated: false },
      { identity: 'ann', permissions: null },
      { identity: 'ann', permissions: { admin: true } },
      { identity: randomBytes(400).toString('hex') },
    ])('may return the user %#', async (value) => {
      const identity = typeof value === 'string' ? value : value.identity;
      expect(await stockAnswer(value)).toMatchObject({
        status: 200,
        body: { metadata: { svc_auth_user_id: identity } },
      });
    });

    it.each(['langgraph-studio-user', '*'])('may not return %j', async (value) => {
      expect(await stockAnswer(value)).toMatchObject({ status: 401 });
    });
  });

  it('is not called for a request with two credentials', async () => {
    const { port } = new URL(server.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        const headers = 'x-answer: "ann"\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n';
        socket.write(
          `GET /threads/${randomUUID()} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}connection: close\r\n\r\n`,
        );
      });
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString())).on('end', () => resolve(received));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is not called with a credential of a megabyte', async () => {
    const { port } = new URL(server.url);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `GET /threads HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${'x'.repeat(1_000_000)}\r\n\r\n`,
        );
      });
      let received = '';
      socket.on('data', (chunk) => (received += chunk.toString())).on('close', () => resolve(received));
      socket.on('error', () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1.1 431 |^$/);
    expect((await server.call('GET', '/ok')).status).toBe(200);
  });
});

describe('an authenticate function', () => {
  it('that throws rejects the request and exposes nothing', async () => {
    await using server = await serve(`export const auth = new Auth()
      .authenticate(() => { throw new Error('secret of the handler'); }).on('*', () => true);`);
    const { status, body } = await createThread(server);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it('that hangs times out', async () => {
    await using server = await serve(
      `export const auth = new Auth()
      .authenticate(() => new Promise<string>(() => undefined)).on('*', () => true);`,
      { settings: { authTimeoutMs: 150 } },
    );
    const answer = await createThread(server);
    expect(answer).toMatchObject({ status: 503 });
    expect(answer.headers.get('retry-after')).not.toBeNull();
  });

  it('that rejects the request sets status, message and headers', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(() => {
      throw new HTTPException(402, { message: 'pay first', headers: { 'x-price': '1', 'content-length': '99' } });
    });`);
    const answer = await createThread(server);
    expect(answer).toMatchObject({ status: 402, body: { detail: 'pay first', code: 'forbidden' } });
    expect(answer.headers.get('x-price')).toBe('1');
  });

  it('that rejects the request may throw an HTTPException whose class was renamed by a bundler', async () => {
    await using server = await serve(`class a extends Error {
      constructor(status, options) { super(options.message); this.status = status; this.headers = options.headers; }
    }
    export const auth = new Auth().authenticate(() => {
      throw new a(402, { message: 'pay first', headers: { 'x-price': '1' } });
    });`);
    const answer = await createThread(server);
    expect(answer).toMatchObject({ status: 402, body: { detail: 'pay first' } });
    expect(answer.headers.get('x-price')).toBe('1');
  });

  it('that fails with the response of another service exposes nothing of it', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(() => {
      const headers = { 'set-cookie': 'session=of-the-service' };
      throw Object.assign(new Error('no such client secret'), { status: 404, headers, requestID: 'r1' });
    });`);
    const answer = await createThread(server);
    expect(answer.status).toBe(500);
    expect(JSON.stringify([answer.body, ...answer.headers])).not.toMatch(/secret|of-the-service/);
  });

  it('gets the method, path and headers of the request, and cannot read a body', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(async (request) =>
      ({ identity: [request.method, new URL(request.url).pathname, request.headers.get('x-one'), (await request.text()).length].join(' ') })).on('*', () => true);`);
    expect((await createThread(server, { 'x-one': 'two' })).body).toMatchObject({
      metadata: { svc_auth_user_id: 'POST /threads two 0' },
    });
  });
});

describe('results of authenticate', () => {
  const counting = `let calls = 0;
    export const auth = new Auth().authenticate((request) => {
      calls += 1;
      if (request.headers.get('authorization') === 'bad') throw new HTTPException(401, { message: String(calls) });
      return 'calls-' + calls;
    }).on('*', () => true);`;
  const nameOf = async (server: TestServer, headers: Record<string, string>) => {
    const { body } = await createThread(server, headers);
    return (body as { metadata?: Record<string, string> }).metadata?.['svc_auth_user_id'];
  };

  it('are cached when the project enables it, by the headers that it names', async () => {
    const cache = { cache_keys: ['Authorization'], ttl_seconds: 60, max_size: 2 };
    await using server = await serve(counting, { auth: { cache } });
    expect(await nameOf(server, { authorization: 'one' })).toBe('calls-1');
    expect(await nameOf(server, { authorization: 'one', 'x-other': '1' })).toBe('calls-1');
    expect(await nameOf(server, { authorization: 'two' })).toBe('calls-2');
    // Requests without the header are not cached, and neither are rejections.
    expect(await nameOf(server, {})).toBe('calls-3');
    expect(await nameOf(server, {})).toBe('calls-4');
    expect((await createThread(server, { authorization: 'bad' })).body).toMatchObject({ detail: '5' });
    expect((await createThread(server, { authorization: 'bad' })).body).toMatchObject({ detail: '6' });
    expect(await nameOf(server, { authorization: 'three' })).toBe('calls-7');
    expect(await nameOf(server, { authorization: 'one' })).toBe('calls-8');
  });

  it('are not cached by default', async () => {
    await using server = await serve(counting);
    expect(await nameOf(server, { authorization: 'one' })).toBe('calls-1');
    expect(await nameOf(server, { authorization: 'one' })).toBe('calls-2');
  });
});

describe('without authorization handlers', () => {
  it('each user has their own objects, the store is closed, and public routes are open', async () => {
    await using server = await serve(
      `export const auth = new Auth().authenticate((request) => {
        const user = request.headers.get('x-user');
        if (!user) throw new HTTPException(401);
        return user;
      });`,
      { executors: 'started' },
    );
    expect((await createThread(server)).status).toBe(401);
    // The public routes do not call it. The server is ready once an executor has loaded the graphs.
    for (const path of ['/ready', '/ok', '/info', '/openapi.json'])
      await eventually(async () => expect((await server.call('GET', path)).status).toBe(200));
    // 503 where the console and the API reference are not built.
    expect([200, 503]).toContain((await server.call('GET', '/docs')).status);
    const made = await createThread(server, { 'x-user': 'ann' });
    const { thread_id } = made.body as { thread_id: string };
    expect((await server.call('GET', `/threads/${thread_id}`, undefined, { 'x-user': 'ann' })).status).toBe(
      200,
    );
    expect((await server.call('GET', `/threads/${thread_id}`, undefined, { 'x-user': 'bob' })).status).toBe(
      404,
    );
    const put = { namespace: ['a'], key: 'k', value: {} };
    expect((await server.call('PUT', '/store/items', put, { 'x-user': 'ann' })).status).toBe(403);
    // Default assistants belong to the deployment.
    const run = { assistant_id: 'probe', input: { action: 'user' } };
    expect((await server.call('POST', '/runs/wait', run, { 'x-user': 'ann' })).status).toBe(200);
  });
});

describe('a request that no handler covers', () => {
  it('is rejected, and the server warns about it at startup', async () => {
    await using server = await serve(
      "export const auth = new Auth().authenticate(() => 'ann').on('threads:create', () => true);",
    );
    expect((await createThread(server)).status).toBe(200);
    const answer = await server.call('POST', '/threads/search', {});
    expect(answer).toMatchObject({ status: 403 });
    expect(JSON.stringify(answer.body)).toContain('No auth handler covers threads:search');
  });

  it('is authorized by the most specific handler, and by no other', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(() => 'ann')
      .on('threads:search', () => true).on('threads', () => false).on('*:search', () => false)
      .on('assistants', () => true).on('*:create', () => { throw new HTTPException(409); })
      .on('*', () => { throw new HTTPException(410); });`);
    const statusOf = async (path: string, body = {}) => (await server.call('POST', path, body)).status;
    expect(await statusOf('/threads/search')).toBe(200);
    expect(await statusOf('/threads')).toBe(403);
    expect(await statusOf('/assistants/search')).toBe(200);
    expect(await statusOf('/runs/crons/search')).toBe(403);
    expect(await statusOf('/runs/crons', { assistant_id: 'probe', schedule: '0 0 1 1 *' })).toBe(409);
    expect(await statusOf('/store/namespaces')).toBe(410);
  });
});

describe('a cookie', () => {
  it('sent by a page of another site has no effect', async () => {
    await using server = await serve(
      "export const auth = new Auth().authenticate((request) => request.headers.get('cookie') ?? 'anonymous').on('*', () => true);",
      { settings: { corsOrigins: 'https://app.example.com' } },
    );
    const statusOf = async (headers: Record<string, string>) =>
      (await server.call('POST', '/threads', undefined, { cookie: 'session=ann', ...headers })).status;
    expect(await statusOf({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await statusOf({ origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' })).toBe(200);
    expect(await statusOf({})).toBe(200);
  });
});

describe('the Studio user', () => {
  const studioKey = 'a key of the studio, thirty-two characters';
  const code = `import { isStudioUser } from '@svc/sdk/auth';
    export const auth = new Auth()
      .authenticate((request) => {
        const answer = request.headers.get('x-answer');
        if (!answer) throw new HTTPException(401);
        return JSON.parse(answer);
      })
      .on('*', ({ user }) => isStudioUser(user) ? {} : { owner: user.identity })
      .on('threads:delete', () => false);`;
  const scheme = { 'x-auth-scheme': 'langsmith' };

  it('is authenticated by the key, and handlers are called for it as for any user', async () => {
    await using server = await serve(code, { settings: { studioKey } });
    const proof = { ...scheme, 'x-api-key': studioKey };
    const made = await createThread(server, proof);
    expect(made).toMatchObject({ status: 200, body: { metadata: { svc_auth_user_id: 'svc-studio-user' } } });
    const { thread_id } = made.body as { thread_id: string };
    expect((await server.call('DELETE', `/threads/${thread_id}`, undefined, proof)).status).toBe(403);
    const guesses: Record<string, string>[] = [scheme, { ...scheme, 'x-api-key': 'a guess at the key' }];
    for (const guess of guesses) {
      for (const path of ['/threads/search', '/assistants/search', '/runs/crons/search', '/store/namespaces'])
        expect((await server.call('POST', path, {}, guess)).status).toBe(401);
      // Not even with another credential that is valid on its own.
      expect((await createThread(server, { ...guess, 'x-answer': '"ann"' })).status).toBe(401);
    }
  });

  it('is rejected when the server has no key, or the project disables it', async () => {
    await using keyless = await serve(code);
    expect((await createThread(keyless, { ...scheme, 'x-api-key': studioKey })).status).toBe(401);
    await using disabled = await serve(code, {
      auth: { disable_studio_auth: true },
      settings: { studioKey },
    });
    expect((await createThread(disabled, { ...scheme, 'x-api-key': studioKey })).status).toBe(401);
  });

  it('cannot be claimed by returning its kind', async () => {
    await using server = await serve(code, { settings: { studioKey } });
    const claim = JSON.stringify({ identity: 'ann', kind: 'StudioUser' });
    // As any user: the filter excludes a thread without an owner.
    expect((await createThread(server, { 'x-answer': claim })).status).toBe(403);
  });
});
