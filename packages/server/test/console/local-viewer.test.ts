// The console without a sign-in: traces of the workspace `default` are shown on this machine.
import { randomBytes } from 'node:crypto';
import type { ApiKey } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { Tab } from './tab.ts';
import { fixture } from '../fixture.ts';

const adminKey = `test-${randomBytes(16).toString('hex')}`;
const settings = { bootstrapApiKey: adminKey, encryptionKey: 'ab'.repeat(32) };

const server = fixture(() => startTestServer({ executors: 'none', settings }));

const loaded = async (url: string): Promise<Tab> => {
  const tab = new Tab(url);
  await tab.load();
  return tab;
};
const projects = (tab: Tab, changed: Record<string, string | undefined> = {}) =>
  tab.send('GET', '/api/v1/sessions', undefined, changed);
const keysOf = async (of: TestServer): Promise<ApiKey[]> => {
  const { body } = await of.call('GET', '/api/v1/api-key', undefined, { 'x-api-key': adminKey });
  return (body as ApiKey[]).filter(({ description }) => description.includes('without sign-in'));
};
const local = {
  workspace: { role: 'viewer', is_local: true },
  deployment: { identity: null, admin_key_file: null },
};
const closed = { workspace: null, csrf_token: null };

describe('on a server without authentication', () => {
  it('the page reads traces, and changes nothing', async () => {
    const tab = new Tab(server.url);
    expect(await tab.load()).toMatchObject(local);
    expect(tab.cookie).toMatch(/^svc-console-\d+=/);
    expect(await projects(tab)).toMatchObject({ status: 200 });
    expect(await tab.load()).toMatchObject(local);
    for (const [path, body] of [
      ['/api/v1/sessions', { name: 'mine' }],
      ['/api/v1/api-key', { description: 'mine' }],
      ['/api/v1/bulk-exports/destinations', {}],
    ] as const)
      expect((await tab.send('POST', path, body)).status, path).toBe(403);
    for (const path of ['/api/v1/api-key', '/api/v1/server/settings'])
      expect((await tab.send('GET', path)).status, path).toBe(403);
  });

  it('all browsers, nodes and starts use one key, which is listed', async () => {
    await loaded(server.url);
    const other = await startTestServer({ executors: 'none', settings, database: server.database });
    await loaded(other.url);
    await other[Symbol.asyncDispose]();
    expect(await keysOf(server)).toMatchObject([{ role: 'viewer', expires_at: null }]);
  });

  it('an API client needs a key as before', async () => {
    expect(await server.call('GET', '/api/v1/sessions')).toMatchObject({ status: 401 });
  });

  it('the cookie is worth nothing without the CSRF token of the page', async () => {
    const tab = await loaded(server.url);
    expect(await projects(tab, { 'x-svc-csrf': undefined })).toMatchObject({ status: 401 });
    expect(await projects(tab, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 401 });
  });

  it.each([
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a link from elsewhere', { 'sec-fetch-site': 'cross-site' }],
    ['an address that somebody types', { 'sec-fetch-site': 'none' }],
  ])('%s gets no session', async (_, changed) => {
    const answer = await new Tab(server.url).send('GET', '/console/auth/session', undefined, changed);
    expect(answer).toMatchObject({ status: 200, body: closed });
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  it.each(['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])(
    'a request of a proxy gets no session (%s)',
    async (name) => {
      const sent = { [name]: '192.0.2.7' };
      const answer = await new Tab(server.url).send('GET', '/console/auth/session', undefined, sent);
      expect(answer).toMatchObject({ status: 200, body: closed });
    },
  );

  it('a key that somebody enters takes its place, until the session ends', async () => {
    const tab = await loaded(server.url);
    expect((await tab.signIn({ key: adminKey })).body).toMatchObject({
      workspace: { role: 'admin', is_local: false },
    });
    expect(await tab.load()).toMatchObject({ workspace: { role: 'admin', is_local: false } });
    expect(await tab.send('DELETE', '/console/auth/session')).toMatchObject({ status: 204 });
    expect(await tab.load()).toMatchObject(local);
  });

  it('a key that is wrong changes nothing', async () => {
    const tab = await loaded(server.url);
    expect(await tab.signIn({ key: 'wrong' })).toMatchObject({ status: 401 });
    expect(await projects(tab)).toMatchObject({ status: 200 });
  });
});

describe('the key of the page', () => {
  it('ends all sessions when it is revoked, and stays revoked', async () => {
    await using own = await startTestServer({ executors: 'none', settings });
    const tab = await loaded(own.url);
    const [key] = await keysOf(own);
    const headers = { 'x-api-key': adminKey };
    expect(await own.call('DELETE', `/api/v1/api-key/${key?.id}`, undefined, headers)).toMatchObject({
      status: 200,
    });
    expect(await projects(tab)).toMatchObject({ status: 401 });
    expect(await tab.load()).toMatchObject(closed);
    for (let loads = 0; loads < 50; loads++) expect(await tab.load()).toMatchObject(closed);
    await using again = await startTestServer({ executors: 'none', settings, database: own.database });
    expect(await new Tab(again.url).load()).toMatchObject(closed);
    expect((await tab.signIn({ key: adminKey })).body).toMatchObject({ workspace: { role: 'admin' } });
  });

  it('is not made by a server whose encryption key is not the one of the database', async () => {
    // Each of the two generates a key, in its own data folder.
    await using own = await startTestServer({ executors: 'none', settings: { bootstrapApiKey: adminKey } });
    await loaded(own.url);
    await using second = await startTestServer({
      executors: 'none',
      settings: { bootstrapApiKey: adminKey },
      database: own.database,
    });
    expect(await new Tab(second.url).load()).toMatchObject({ ...closed, deployment: { identity: null } });
    expect(await keysOf(own)).toHaveLength(1);
  });
});

describe('a session of the page', () => {
  it('ends when the server is started with SVC_CONSOLE_VIEWER=off', async () => {
    await using own = await startTestServer({ executors: 'none', settings });
    const tab = await loaded(own.url);
    await using closing = await startTestServer({
      executors: 'none',
      settings: { ...settings, consoleViewer: 'off' },
      database: own.database,
    });
    const there = new Tab(closing.url);
    there.csrf = tab.csrf;
    // The name of the cookie has the port.
    there.cookie = `svc-console-${new URL(closing.url).port}=${tab.cookie?.split('=')[1]}`;
    expect(await projects(there)).toMatchObject({ status: 401 });
    expect(await there.load()).toMatchObject(closed);
  });

  it('is not needed to open the console while there is no workspace for it', async () => {
    await using own = await startTestServer({ executors: 'none', settings });
    await own.database.script(`update workspaces set display_name = 'renamed'`);
    const tab = new Tab(own.url);
    expect(await tab.load()).toMatchObject({ ...closed, deployment: { identity: null } });
    await tab.signIn({ key: adminKey });
    expect(await tab.load()).toMatchObject({ workspace: { role: 'admin', is_local: false } });
  });
});

describe('there is no session before a sign-in', () => {
  it.each([
    ['with SVC_CONSOLE_VIEWER=off', { consoleViewer: 'off' }],
    ['behind a proxy', { trustedProxies: '127.0.0.1' }],
    ['on a server with API keys', { apiKeys: 'k'.repeat(32) }],
  ])('%s', async (_, changed) => {
    await using own = await startTestServer({ executors: 'none', settings: { ...settings, ...changed } });
    expect(await new Tab(own.url).load()).toMatchObject(closed);
    expect(await keysOf(own)).toEqual([]);
  });

  it('on a server that everybody can reach', async () => {
    await using own = await startTestServer({
      executors: 'none',
      settings: { ...settings, allowAnonymous: 'true' },
    });
    const { status, headers } = await new Tab(own.url)
      .send('GET', '/console/auth/session')
      .catch(() => ({ status: 0, headers: new Headers() }));
    expect(status).toBe(404);
    expect(headers.get('set-cookie')).toBeNull();
    expect(await keysOf(own)).toEqual([]);
  });
});
