// Who makes a request: what authenticate may answer, what it is given, and a server that does not start without it.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { authProjects, type AuthProjects } from './auth-projects.ts';

const projects = authProjects();
const { dir, graph } = projects;
const serve: AuthProjects['serve'] = (...given) => projects.serve(...given);
const project: AuthProjects['write'] = (...given) => projects.write(...given);
afterAll(() => projects[Symbol.dispose]());

const ask = (server: TestServer, headers: Record<string, string> = {}) =>
  server.call('POST', '/threads', {}, headers);

describe('an auth file', () => {
  const broken: [string, string, RegExp][] = [
    ['with a syntax error', 'export const auth = ;', /cannot be loaded/],
    ['that throws', "throw new Error('no database');", /cannot be loaded: no database/],
    ['without the export', 'export const other = new Auth();', /does not export auth; it exports other/],
    [
      'whose export is no Auth object',
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
      /\.on\("threads:serach"\) is no handler/,
    ],
    [
      'with a handler of no event',
      "export const auth = new Auth().authenticate(() => 'a').on('things' as '*', () => true);",
      /\.on\("things"\) is no handler/,
    ],
  ];
  it.each(broken)('%s keeps the server from starting, and says why', async (_, code, message) => {
    await expect(serve(code)).rejects.toThrow(message);
  });

  it('that is not there is a mistake of the configuration', async () => {
    const missing = project({ path: './auth.ts:auth' }, {});
    await expect((async () => startTestServer({ project: missing }))()).rejects.toThrow(/there is no file/);
  });

  it('may be CommonJS, and sees the variables of svc.json', async () => {
    const code = `const { Auth } = require('@langchain/langgraph-sdk/auth');
      exports.auth = new Auth().authenticate(() => process.env.AUTH_TEST_NAME).on('*', () => true);`;
    const file = project({ path: './auth.cjs:auth' }, { 'auth.cjs': code });
    const text = `{"env":{"AUTH_TEST_NAME":"from-env"},"graphs":{"probe":${JSON.stringify(graph)}},"auth":{"path":"./${file.slice(dir.length + 1, -5)}-auth.cjs:auth"}}`;
    writeFileSync(file, text);
    await using server = await startTestServer({ project: file });
    expect((await ask(server)).body).toMatchObject({ metadata: { svc_auth_user_id: 'from-env' } });
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
  const answer = (value: unknown) => ask(server, { 'x-answer': JSON.stringify(value) });

  const users: [string, unknown][] = [
    ['a text', 'ann'],
    ['an object', { identity: 'ann' }],
    ['more than is needed', { identity: 'ann', permissions: ['a'], display_name: 'Ann', org: { id: 7 } }],
  ];
  it.each(users)('may answer with %s', async (_, value) => {
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
  it.each(garbage.map((value) => [value]))('may not answer with %j', async (value) => {
    expect(await answer(value)).toMatchObject({ status: 500, body: { code: 'internal' } });
  });

  it.each([
    'svc-studio-user',
    'langgraph-studio-user',
    'SVC-Studio-User',
    '*',
    { identity: 'system' },
    { identity: 'ann', is_authenticated: false },
  ])('lets nobody be %j', async (value) => {
    expect(await answer(value)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  });

  it('is not asked twice who sends two credentials', async () => {
    const { port } = new URL(server.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        const headers = 'x-answer: "ann"\r\nauthorization: Bearer a\r\nauthorization: Bearer b\r\n';
        socket.write(
          `GET /threads/${randomUUID()} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}connection: close\r\n\r\n`,
        );
      });
      let said = '';
      socket.on('data', (chunk) => (said += chunk.toString())).on('end', () => resolve(said));
      socket.on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1.1 400 /);
  });

  it('is not asked about a credential of a megabyte', async () => {
    const { port } = new URL(server.url);
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `GET /threads HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${'x'.repeat(1_000_000)}\r\n\r\n`,
        );
      });
      let said = '';
      socket.on('data', (chunk) => (said += chunk.toString())).on('close', () => resolve(said));
      socket.on('error', () => resolve(said));
    });
    expect(text).toMatch(/^HTTP\/1.1 431 |^$/);
    expect((await server.call('GET', '/ok')).status).toBe(200);
  });

  it('is not asked at public routes', async () => {
    // Ready once an executor has loaded the graphs.
    for (const path of ['/ready', '/ok', '/info', '/docs', '/openapi.json'])
      await eventually(async () => expect((await server.call('GET', path)).status).toBe(200));
  });
});

describe('an authenticate', () => {
  it('that throws lets nobody in and shows nothing', async () => {
    await using server = await serve(`export const auth = new Auth()
      .authenticate(() => { throw new Error('secret of the handler'); }).on('*', () => true);`);
    const { status, body } = await ask(server);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it('that hangs is not waited for', async () => {
    await using server = await serve(`export const auth = new Auth()
      .authenticate(() => new Promise<string>(() => undefined)).on('*', () => true);`);
    const answer = await ask(server);
    expect(answer).toMatchObject({ status: 503 });
    expect(answer.headers.get('retry-after')).not.toBeNull();
  });

  it('that refuses says how', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(() => {
      throw new HTTPException(402, { message: 'pay first', headers: { 'x-price': '1', 'content-length': '99' } });
    });`);
    const answer = await ask(server);
    expect(answer).toMatchObject({ status: 402, body: { detail: 'pay first', code: 'forbidden' } });
    expect(answer.headers.get('x-price')).toBe('1');
  });

  it('that fails with the answer of another service shows nothing of it', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(() => {
      const headers = { 'set-cookie': 'session=of-the-service' };
      throw Object.assign(new Error('no such client secret'), { status: 404, headers });
    });`);
    const answer = await ask(server);
    expect(answer.status).toBe(500);
    expect(JSON.stringify([answer.body, ...answer.headers])).not.toMatch(/secret|of-the-service/);
  });

  it('gets the request with its method, path and headers, and may read no body', async () => {
    await using server = await serve(`export const auth = new Auth().authenticate(async (request) =>
      ({ identity: [request.method, new URL(request.url).pathname, request.headers.get('x-one'), (await request.text()).length].join(' ') })).on('*', () => true);`);
    expect((await ask(server, { 'x-one': 'two' })).body).toMatchObject({
      metadata: { svc_auth_user_id: 'POST /threads two 0' },
    });
  });
});

describe('answers of authenticate', () => {
  const counting = `let asked = 0;
    export const auth = new Auth().authenticate((request) => {
      asked += 1;
      if (request.headers.get('authorization') === 'bad') throw new HTTPException(401, { message: String(asked) });
      return 'asked-' + asked;
    }).on('*', () => true);`;
  const nameOf = async (server: TestServer, headers: Record<string, string>) => {
    const { body } = await ask(server, headers);
    return (body as { metadata?: Record<string, string> }).metadata?.['svc_auth_user_id'];
  };

  it('are kept where the project says so, by the headers it names', async () => {
    const cache = { cache_keys: ['Authorization'], ttl_seconds: 60, max_size: 2 };
    await using server = await serve(counting, { auth: { cache } });
    expect(await nameOf(server, { authorization: 'one' })).toBe('asked-1');
    expect(await nameOf(server, { authorization: 'one', 'x-other': '1' })).toBe('asked-1');
    expect(await nameOf(server, { authorization: 'two' })).toBe('asked-2');
    // Who says nothing is no known caller, and a refusal is asked for again.
    expect(await nameOf(server, {})).toBe('asked-3');
    expect(await nameOf(server, {})).toBe('asked-4');
    expect((await ask(server, { authorization: 'bad' })).body).toMatchObject({ detail: '5' });
    expect((await ask(server, { authorization: 'bad' })).body).toMatchObject({ detail: '6' });
    expect(await nameOf(server, { authorization: 'three' })).toBe('asked-7');
    expect(await nameOf(server, { authorization: 'one' })).toBe('asked-8');
  });

  it('are not kept otherwise', async () => {
    await using server = await serve(counting);
    expect(await nameOf(server, { authorization: 'one' })).toBe('asked-1');
    expect(await nameOf(server, { authorization: 'one' })).toBe('asked-2');
  });
});

describe('without any handler', () => {
  it('each user has what is theirs, and the store is closed', async () => {
    await using server = await serve(
      "export const auth = new Auth().authenticate((request) => request.headers.get('x-user') ?? 'nobody');",
    );
    const made = await ask(server, { 'x-user': 'ann' });
    const { thread_id } = made.body as { thread_id: string };
    expect((await server.call('GET', `/threads/${thread_id}`, undefined, { 'x-user': 'ann' })).status).toBe(
      200,
    );
    expect((await server.call('GET', `/threads/${thread_id}`, undefined, { 'x-user': 'bob' })).status).toBe(
      404,
    );
    const put = { namespace: ['a'], key: 'k', value: {} };
    expect((await server.call('PUT', '/store/items', put, { 'x-user': 'ann' })).status).toBe(403);
    // Default assistants are the deployment's.
    const run = { assistant_id: 'probe', input: { ask: 'who' } };
    expect((await server.call('POST', '/runs/wait', run, { 'x-user': 'ann' })).status).toBe(200);
  });
});

describe('what no handler covers', () => {
  it('is refused, and the server warns of it when it starts', async () => {
    await using server = await serve(
      "export const auth = new Auth().authenticate(() => 'ann').on('threads:create', () => true);",
    );
    expect((await ask(server)).status).toBe(200);
    const answer = await server.call('POST', '/threads/search', {});
    expect(answer).toMatchObject({ status: 403 });
    expect(JSON.stringify(answer.body)).toContain('No auth handler covers threads:search');
  });

  it('goes to the most special handler, and to no other', async () => {
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
  it('changes nothing from a page of another site, which sends it unasked', async () => {
    await using server = await serve(
      "export const auth = new Auth().authenticate((request) => request.headers.get('cookie') ?? 'nobody').on('*', () => true);",
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

  it('is who proves the key, and is asked about like anybody', async () => {
    await using server = await serve(code, { settings: { studioKey } });
    const proof = { ...scheme, 'x-api-key': studioKey };
    const made = await ask(server, proof);
    expect(made).toMatchObject({ status: 200, body: { metadata: { svc_auth_user_id: 'svc-studio-user' } } });
    const { thread_id } = made.body as { thread_id: string };
    expect((await server.call('DELETE', `/threads/${thread_id}`, undefined, proof)).status).toBe(403);
    const guesses: Record<string, string>[] = [scheme, { ...scheme, 'x-api-key': 'a guess at the key' }];
    for (const guess of guesses) {
      for (const path of ['/threads/search', '/assistants/search', '/runs/crons/search', '/store/namespaces'])
        expect((await server.call('POST', path, {}, guess)).status).toBe(401);
      // Not even together with a credential that is good for itself.
      expect((await ask(server, { ...guess, 'x-answer': '"ann"' })).status).toBe(401);
    }
  });

  it('is nobody without a key of the server, or where the project wants none', async () => {
    await using keyless = await serve(code);
    expect((await ask(keyless, { ...scheme, 'x-api-key': studioKey })).status).toBe(401);
    await using disabled = await serve(code, {
      auth: { disable_studio_auth: true },
      settings: { studioKey },
    });
    expect((await ask(disabled, { ...scheme, 'x-api-key': studioKey })).status).toBe(401);
  });

  it('is nobody who says so of themselves', async () => {
    await using server = await serve(code, { settings: { studioKey } });
    const claim = JSON.stringify({ identity: 'ann', kind: 'StudioUser' });
    // As any user, whose filter a thread without an owner does not pass.
    expect((await ask(server, { 'x-answer': claim })).status).toBe(403);
  });
});
