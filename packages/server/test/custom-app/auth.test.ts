// Authentication of custom routes, and its order with the middleware of http.app.
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { openSocket, refusal } from '../thread-protocol/socket.ts';
import { stopClock } from '../stopped-clock.ts';
import { type CustomOptions, type CustomServer, startCustomServer } from './custom-server.ts';

const app = `
export const app = new Hono();
app.use(async (c, next) => {
  if (c.req.header('x-as')) c.req.raw.headers.set('authorization', c.req.header('x-as'));
  c.header('x-middleware', c.var.auth?.user.identity ?? 'nobody');
  await next();
});
app.get('/custom/me', (c) => c.json(c.var.auth ?? null));
app.post('/threads/count', (c) => c.json({ own: c.var.auth?.user.identity ?? null }));
app.get('/assistants/abc', (c) => c.text('abc'));
app.use('/static/*', (c, next) => c.text('file'));
app.all('/admin', (c, next) => c.req.method === 'OPTIONS' ? c.text('secret') : next());
`;

const auth = `
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
let calls = 0;
export const auth = new Auth()
  .authenticate((request) => {
    calls += 1;
    const name = request.headers.get('authorization');
    if (!name) throw new HTTPException(401, { message: 'who are you?' });
    return { identity: name, permissions: ['a:b'], calls, url: new URL(request.url).pathname };
  })
  .on('*', () => true);
`;

const project: CustomOptions = {
  files: { 'auth.ts': auth },
  sections: { auth: { path: './auth.ts:auth' } },
  executors: 'none',
};

let server: CustomServer | undefined;
afterEach(() => server?.[Symbol.asyncDispose]());

const start = async (http: object, options: CustomOptions = {}): Promise<CustomServer> => {
  server = await startCustomServer(app, { http, ...project, ...options });
  return server;
};

const owned = { metadata: { svc_auth_user_id: 'ann' } };
const asAnn = { 'x-as': 'ann' };
const ann = { authorization: 'ann' };

describe('custom routes', () => {
  it('are open with enable_custom_route_auth: false, and middleware runs before the authentication of built-in routes', async () => {
    const { call } = await start({ enable_custom_route_auth: false });
    expect(await call('GET', '/custom/me')).toMatchObject({ status: 200, body: null });
    expect(await call('POST', '/threads/count', {})).toMatchObject({ status: 200, body: { own: null } });
    const refused = await call('POST', '/threads/search', {});
    expect(refused).toMatchObject({ status: 401, body: { message: 'who are you?' } });
    expect(refused.headers.get('x-middleware')).toBe('nobody');
    expect((await call('POST', '/threads/search', {}, asAnn)).status).toBe(200);
  });

  it('need authentication by default, whatever they are', async () => {
    const { call } = await start({});
    for (const [method, path] of [
      ['GET', '/custom/me'],
      ['HEAD', '/custom/me'],
      ['GET', '/custom/%6de'],
      ['POST', '/threads/count'],
      ['GET', '/assistants/abc'],
      ['GET', '/assistants/%61bc'],
      ['GET', '/static/file'],
      ['GET', '/nowhere'],
    ] as const)
      expect([path, (await call(method, path, method === 'POST' ? {} : undefined)).status]).toEqual([
        path,
        401,
      ]);
    const me = { user: { identity: 'ann', permissions: ['a:b'] }, scopes: ['a:b'] };
    expect((await call('GET', '/custom/me', undefined, asAnn)).status).toBe(401);
    expect((await call('GET', '/custom/me', undefined, ann)).body).toMatchObject(me);
    expect((await call('GET', '/assistants/%61bc', undefined, ann)).body).toBe('abc');
    expect((await call('POST', '/threads/count', {}, ann)).body).toEqual({ own: 'ann' });
    // Built-in routes authenticate after the middleware.
    expect((await call('POST', '/threads/search', {}, asAnn)).status).toBe(200);
    expect((await call('GET', '/ok')).status).toBe(200);
    expect((await call('GET', '/info')).status).toBe(200);
    expect((await call('GET', '/')).status).toBe(200);
  });

  it('need authentication beside the console and the API reference, which need none', async () => {
    const { call } = await start({});
    for (const path of ['/console', '/console/threads/7', '/docs', '/docs/assets/none.js'])
      expect([path, (await call('GET', path)).status]).not.toEqual([path, 401]);
    for (const path of ['/consoles', '/docs2'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 401]);
  });

  it('answer preflights without authentication, but no other OPTIONS requests', async () => {
    const { call } = await start({});
    expect((await call('OPTIONS', '/admin')).status).toBe(401);
    expect((await call('OPTIONS', '/custom/me')).status).toBe(401);
    expect((await call('OPTIONS', '/admin', undefined, ann)).body).toBe('secret');
    const preflight = { 'access-control-request-method': 'GET', origin: 'https://page.example' };
    expect((await call('OPTIONS', '/static/file', undefined, preflight)).body).toBe('file');
  });

  it('of a server with API keys need one', async () => {
    const key = 'k'.repeat(32);
    const { call } = await start({}, { sections: {}, settings: { apiKeys: key } });
    expect((await call('GET', '/custom/me')).status).toBe(401);
    expect((await call('GET', '/custom/me', undefined, { 'x-api-key': key })).status).toBe(200);
  });

  it('of a server without authentication are open', async () => {
    const { call } = await start({}, { sections: {} });
    expect(await call('GET', '/custom/me')).toMatchObject({ status: 200, body: null });
  });

  it('have the user in apps with a base path, an error handler and a copy of hono of their own', async () => {
    const code = `
      export const app = new Hono().basePath('/own');
      app.use(async (c, next) => { c.header('x-user', c.var.auth.user.identity); await next(); });
      app.get('/me', (c) => c.text(c.get('auth').user.identity));
      app.get('/throws', () => { throw new Error('no'); });
      app.onError((error, c) => c.text(c.var.auth.user.identity + ': ' + error.message, 500));`;
    for (const hono of ['hono', 'hono-4-0']) {
      await using custom = await startCustomServer(code, { hono, ...project });
      expect((await custom.call('GET', '/own/me')).status).toBe(401);
      expect(await custom.call('GET', '/own/me', undefined, ann)).toMatchObject({ status: 200, body: 'ann' });
      const failed = await custom.call('GET', '/own/throws', undefined, ann);
      expect(failed).toMatchObject({ status: 500, body: 'ann: no' });
      expect(failed.headers.get('x-user')).toBe('ann');
    }
  });
});

describe('a project with a langgraph.json', () => {
  it('authenticates every request before the app, which has the user in its variables', async () => {
    const { call } = await start({}, { file: 'langgraph.json' });
    expect((await call('GET', '/custom/me')).status).toBe(401);
    expect((await call('GET', '/custom/me', undefined, asAnn)).status).toBe(401);
    expect((await call('GET', '/custom/me', undefined, ann)).body).toMatchObject({
      user: { identity: 'ann', permissions: ['a:b'] },
      scopes: ['a:b'],
    });
    const refused = await call('POST', '/threads/search', {}, asAnn);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('x-middleware')).toBeNull();
    const served = await call('POST', '/threads/search', {}, ann);
    expect([served.status, served.headers.get('x-middleware')]).toEqual([200, 'ann']);
    for (const path of ['/ok', '/info', '/']) expect((await call('GET', path)).status).toBe(200);
  });

  it('may let the middleware supply the credentials, and open its routes', async () => {
    const http = { middleware_order: 'middleware_first', enable_custom_route_auth: false };
    const { call } = await start(http, { file: 'langgraph.json' });
    expect((await call('POST', '/threads/search', {}, asAnn)).status).toBe(200);
    expect(await call('GET', '/custom/me')).toMatchObject({ status: 200, body: null });
  });
});

describe('middleware_order auth_first', () => {
  it('authenticates requests for built-in routes once, before the middleware', async () => {
    const { call } = await start({ middleware_order: 'auth_first' });
    const refused = await call('POST', '/threads/search', {}, asAnn);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('x-middleware')).toBeNull();
    const served = await call('POST', '/threads', {}, ann);
    expect(served).toMatchObject({ status: 200, body: owned });
    expect(served.headers.get('x-middleware')).toBe('ann');
    expect((await call('GET', '/custom/me', undefined, ann)).body).toMatchObject({
      user: { identity: 'ann' },
    });
    // A change of the credentials after the authentication has no effect.
    expect((await call('POST', '/threads', {}, { ...ann, 'x-as': 'bob' })).body).toMatchObject(owned);
  });

  it('uses the keys of the platform for its routes', async () => {
    const { call } = await start({ middleware_order: 'auth_first' });
    expect((await call('GET', '/api/v1/sessions', undefined, ann)).status).toBe(401);
  });
});

describe('a WebSocket under auth_first', () => {
  const http = { middleware_order: 'auth_first' };
  const run = { assistant_id: 'probe', input: {} };

  it('ends with 4401 when its credentials are no longer accepted, and starts nothing', async () => {
    const brief = `
      import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
      let times = 2;
      export const auth = new Auth()
        .authenticate(() => {
          if (times-- > 0) return { identity: 'ann' };
          throw new HTTPException(401, { message: 'Your session has ended.' });
        })
        .on('*', () => true);`;
    const { url, database } = await start(http, { files: { 'auth.ts': brief } });
    const socket = await openSocket(url, randomUUID());
    expect(await socket.command('state.get')).toMatchObject({ error: 'invalid_argument' });
    socket.ws.send(JSON.stringify({ id: 1, method: 'run.start', params: run }));
    expect(await socket.closed).toEqual({ code: 4401, reason: 'Your session has ended.' });
    const count = { name: 'count_runs', text: 'select count(*)::int as count from runs' };
    expect(await database.query(count, [])).toEqual([{ count: 0 }]);
  });

  it('counts its commands as requests', async () => {
    const { url } = await start(http, { settings: { rateLimit: '1' } });
    const socket = await openSocket(url, randomUUID(), { headers: ann });
    using _ = stopClock();
    const answers = await Promise.all(Array.from({ length: 20 }, () => socket.command('state.get')));
    expect(answers.filter(({ message }) => /Too many requests/.test(message ?? ''))).not.toHaveLength(0);
    socket.ws.close();
  });

  it('keeps the credentials of its client when middleware changes them', async () => {
    const { url, call } = await start(http);
    const thread_id = randomUUID();
    const socket = await openSocket(url, thread_id, { headers: { ...ann, 'x-as': 'bob' } });
    expect(await socket.command('run.start', run)).toMatchObject({ type: 'success' });
    expect((await call('GET', `/threads/${thread_id}`, undefined, ann)).body).toMatchObject(owned);
    socket.ws.close();
  });

  it('opens with a ticket, once, and its commands are those of the ticket’s caller', async () => {
    const settings = { encryptionKey: randomBytes(32).toString('base64') };
    const { url, call } = await start(http, { settings });
    const { body } = await call('POST', '/auth/tickets', undefined, ann);
    const query = `?ticket=${(body as { ticket: string }).ticket}`;
    const thread_id = randomUUID();
    const socket = await openSocket(url, thread_id, { query });
    expect(await socket.command('run.start', run)).toMatchObject({ type: 'success' });
    expect(await socket.command('state.get')).toMatchObject({ type: 'success' });
    expect((await call('GET', `/threads/${thread_id}`, undefined, ann)).body).toMatchObject(owned);
    expect(await refusal(openSocket(url, thread_id, { query }))).toMatchObject({ status: 401 });
    socket.ws.close();
  });
});

describe('a path before all routes', () => {
  it('is before custom routes too, which do not see it', async () => {
    const { call, url } = await start({ mount_prefix: '/agents' });
    expect(url).toMatch(/\/agents$/);
    const { body } = await call('GET', '/custom/me', undefined, ann);
    expect(body).toMatchObject({ user: { identity: 'ann', url: '/agents/custom/me' } });
    expect((await fetch(new URL('/custom/me', url), { headers: ann })).status).toBe(404);
    expect(await call('POST', '/threads', {}, ann)).toMatchObject({ status: 200 });
    expect((await fetch(new URL('/ok', url))).status).toBe(200);
  });
});
