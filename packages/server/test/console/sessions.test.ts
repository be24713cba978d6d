// Sessions of the console on a server with API keys.
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { stopClock } from '../stopped-clock.ts';
import { signedIn, Tab } from './tab.ts';

const apiKey = randomBytes(32).toString('hex');
const workspaceKey = `test-${randomBytes(16).toString('hex')}`;

let server: TestServer;
const lines: string[] = [];
beforeAll(async () => {
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  server = await startTestServer({
    executors: 'none',
    settings: { apiKeys: apiKey, bootstrapApiKey: workspaceKey, corsOrigins: 'https://app.example' },
    logger: pino({ level: 'debug' }, stream),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const search = (tab: Tab, changed: Record<string, string | undefined> = {}) =>
  tab.send('POST', '/threads/search', {}, changed);
const projects = (tab: Tab, changed: Record<string, string | undefined> = {}) =>
  tab.send('GET', '/api/v1/sessions', undefined, changed);
let statements = 0;
const rows = (text: string) =>
  server.database.query<Record<string, unknown>>({ name: `sessions_test_${++statements}`, text }, []);
const refused = { status: 401, body: { code: 'unauthenticated' } };

describe('signing in', () => {
  it('says what the server takes, and that nothing is open', async () => {
    const tab = new Tab(server.url);
    expect(await tab.load()).toEqual({
      sign_in: { kind: 'key', header: null, provider: null },
      deployment: null,
      workspace: null,
      csrf_token: null,
      expires_at: null,
    });
    expect(await search(tab)).toMatchObject(refused);
    expect(await projects(tab)).toMatchObject(refused);
  });

  it('with an API key opens the deployment API, and no workspace', async () => {
    const tab = new Tab(server.url);
    const { body, headers } = await tab.signIn({ key: apiKey });
    expect(body).toMatchObject({ deployment: { identity: null }, workspace: null });
    expect(headers.get('set-cookie')).toMatch(
      /^svc-console-\d+=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    expect(headers.get('set-cookie')).toContain(`svc-console-${new URL(server.url).port}=`);
    expect(await search(tab)).toMatchObject({ status: 200 });
    expect(await projects(tab)).toMatchObject(refused);
    expect(await tab.load()).toMatchObject({
      deployment: { identity: null },
      csrf_token: expect.any(String),
    });
    expect(await search(tab)).toMatchObject({ status: 200 });
  });

  it('with the key of a workspace opens the workspace, and is added to a session', async () => {
    const tab = await signedIn(server.url, { key: workspaceKey });
    expect(await projects(tab)).toMatchObject({ status: 200 });
    expect(await search(tab)).toMatchObject(refused);
    const first = tab.cookie;
    expect((await tab.signIn({ key: apiKey })).body).toMatchObject({
      deployment: {},
      workspace: { role: 'admin' },
    });
    expect(await projects(tab)).toMatchObject({ status: 200 });
    expect(await search(tab)).toMatchObject({ status: 200 });
    // The session has another cookie now, and the first one is worth nothing.
    expect(tab.cookie).not.toBe(first);
    expect(await search(tab, { cookie: first })).toMatchObject(refused);
  });

  it('with an unknown key is refused, without an echo of the key', async () => {
    const answer = await new Tab(server.url).signIn({ key: 'not-a-key-of-anything' });
    expect(answer).toMatchObject(refused);
    expect(answer.headers.get('set-cookie')).toBe(null);
    expect(JSON.stringify(answer.body)).not.toContain('not-a-key');
    for (const body of [{}, { key: 'a', token: 'b' }, { token: 'a' }, { key: 'a\nb' }, { key: '' }, { x: 1 }])
      expect(await new Tab(server.url).signIn(body)).toMatchObject({ status: 422 });
  });

  it('is refused for pages of other origins and for requests without an origin', async () => {
    const tab = new Tab(server.url);
    const signIn = (changed: Record<string, string | undefined>) =>
      tab.send('POST', '/console/auth/session', { key: apiKey }, changed);
    for (const changed of [
      { origin: undefined },
      { origin: 'null' },
      { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://app.example', 'sec-fetch-site': undefined },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      const answer = await signIn(changed);
      expect([changed, answer.status]).toEqual([changed, 403]);
      expect(answer.headers.get('set-cookie')).toBe(null);
      expect(answer.headers.get('access-control-allow-origin')).toBe(null);
    }
    const preflight = await tab.send('OPTIONS', '/console/auth/session', undefined, {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe(null);
  });
});

describe('a session', () => {
  it('counts only with its CSRF token, also for reads', async () => {
    const tab = await signedIn(server.url, { key: apiKey });
    await tab.signIn({ key: workspaceKey });
    const other = await signedIn(server.url, { key: apiKey });
    for (const csrf of [undefined, '', 'x', other.csrf]) {
      expect(await search(tab, { 'x-svc-csrf': csrf })).toMatchObject(refused);
      expect(await projects(tab, { 'x-svc-csrf': csrf })).toMatchObject(refused);
      expect(
        await tab.send('DELETE', '/console/auth/sessions', undefined, { 'x-svc-csrf': csrf }),
      ).toMatchObject(refused);
    }
    expect(await search(tab)).toMatchObject({ status: 200 });
  });

  it('counts only for requests of its own page', async () => {
    const tab = await signedIn(server.url, { key: apiKey });
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://app.example' },
      { origin: 'https://app.example', 'sec-fetch-site': undefined },
      { origin: server.url.replace(/:\d+$/, ':1') },
      { origin: 'null' },
    ];
    for (const changed of foreign) {
      const read = await tab.send('GET', '/threads/00000000-0000-0000-0000-000000000000', undefined, changed);
      expect([changed, read.status]).toEqual([changed, 401]);
      expect([changed, (await search(tab, changed)).status]).toEqual([changed, expect.toBeOneOf([401, 403])]);
      // The CSRF token is not given to other pages either.
      const { body } = await tab.send('GET', '/console/auth/session', undefined, changed);
      expect(body).toMatchObject({ csrf_token: null, deployment: null });
    }
    expect(await search(tab, { origin: undefined })).toMatchObject(refused);
    // Browsers on plain HTTP send no Sec-Fetch-Site, and no Origin with reads.
    expect(await search(tab, { 'sec-fetch-site': undefined })).toMatchObject({ status: 200 });
    const id = '00000000-0000-0000-0000-000000000000';
    const plain = { 'sec-fetch-site': undefined, origin: undefined };
    expect(await tab.send('GET', `/threads/${id}`, undefined, plain)).toMatchObject({ status: 404 });
  });

  it('does not exist for a cookie that is forged, doubled or of another name', async () => {
    const tab = await signedIn(server.url, { key: apiKey });
    const [name = '', value = ''] = (tab.cookie ?? '').split('=');
    const forged = randomBytes(32).toString('base64url');
    for (const cookie of [
      `${name}=${forged}`,
      `${name}=`,
      `${name}=${value}; ${name}=${forged}`,
      `${name}=${forged}; ${name}=${value}`,
      `svc-console-1=${value}`,
      `__Host-svc-console=${value}`,
      `${name}=${value.slice(0, 42)}`,
    ])
      expect([cookie, (await search(tab, { cookie })).status]).toEqual([cookie, 401]);
    expect(await search(tab, { cookie: `a=1; ${name}=${value}; b=2` })).toMatchObject({ status: 200 });
  });

  it('is ignored when the request has a credential of its own', async () => {
    const tab = await signedIn(server.url, { key: apiKey });
    expect(await search(tab, { 'x-api-key': 'wrong' })).toMatchObject(refused);
    expect(await search(tab, { authorization: 'Bearer wrong' })).toMatchObject(refused);
    expect(await search(tab, { 'x-api-key': apiKey, 'x-svc-csrf': undefined })).toMatchObject({
      status: 200,
    });
  });

  it('is stored as a hash, with its credentials encrypted, and is in no log', async () => {
    const tab = await signedIn(server.url, { key: apiKey });
    await tab.signIn({ key: workspaceKey });
    await search(tab);
    const value = tab.cookie?.split('=')[1] ?? '';
    const stored = JSON.stringify(await rows('select t::text as row from console_sessions t'));
    const secrets = [value, tab.csrf ?? '', apiKey, workspaceKey];
    for (const secret of secrets) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
      expect(lines.join('')).not.toContain(secret);
    }
    expect(lines.join('')).toContain('/console/auth/session');
  });
});

describe('a session ends', () => {
  it('by signing out, in this browser only', async () => {
    const [tab, other] = [
      await signedIn(server.url, { key: apiKey }),
      await signedIn(server.url, { key: apiKey }),
    ];
    const { cookie } = tab;
    const { headers: before } = other;
    // Without the CSRF token the session does not end: another page could have sent the request.
    await other.send('DELETE', '/console/auth/session', undefined, { 'x-svc-csrf': undefined });
    expect(await search(other, before)).toMatchObject({ status: 200 });
    const { status, headers } = await tab.send('DELETE', '/console/auth/session');
    expect([status, headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect(await search(tab, { cookie })).toMatchObject(refused);
  });

  it('everywhere by signing out everywhere, for this key only', async () => {
    const tabs = [await signedIn(server.url, { key: apiKey }), await signedIn(server.url, { key: apiKey })];
    const other = await signedIn(server.url, { key: workspaceKey });
    const [first, second] = tabs as [Tab, Tab];
    expect(await first.send('DELETE', '/console/auth/sessions')).toMatchObject({ status: 204 });
    expect(await search(second)).toMatchObject(refused);
    expect(await projects(other)).toMatchObject({ status: 200 });
    expect(await second.load()).toMatchObject({ deployment: null, csrf_token: null });
  });

  it('after a time without requests, and after its whole time', async () => {
    for (const change of [`seen_at = now() - interval '12 hours'`, 'expires_at = now()']) {
      const tab = await signedIn(server.url, { key: apiKey });
      expect(await search(tab)).toMatchObject({ status: 200 });
      await rows(`update console_sessions set ${change}`);
      expect(await search(tab)).toMatchObject(refused);
    }
    const tab = await signedIn(server.url, { key: apiKey });
    await rows(`update console_sessions set seen_at = now() - interval '11 hours'`);
    expect(await search(tab)).toMatchObject({ status: 200 });
    const [{ seen } = {}] =
      await rows(`select seen_at > now() - interval '1 minute' as seen from console_sessions
      order by seen_at desc limit 1`);
    expect(seen).toBe(true);
  });

  it('when its key is revoked', async () => {
    const created = await server.call(
      'POST',
      '/api/v1/api-key',
      { role: 'viewer' },
      { 'x-api-key': workspaceKey },
    );
    const { key, id } = created.body as { key: string; id: string };
    const tab = await signedIn(server.url, { key });
    expect(await projects(tab)).toMatchObject({ status: 200 });
    await server.call('DELETE', `/api/v1/api-key/${id}`, undefined, { 'x-api-key': workspaceKey });
    await expect.poll(() => projects(tab)).toMatchObject(refused);
    expect(await tab.load()).toMatchObject({ workspace: null, csrf_token: null });
    expect(tab.cookie).toBe(undefined);
  });
});

describe('failed sign-ins', () => {
  it('are limited with the failed authentications of the address', async () => {
    await using own = await startTestServer({ executors: 'none', settings: { apiKeys: apiKey } });
    const tab = new Tab(own.url);
    const statusOf = async (key: string): Promise<number> => (await tab.signIn({ key })).status;
    using _ = stopClock();
    const first = await Promise.all(Array.from({ length: 100 }, (_value, at) => statusOf(`wrong-${at}`)));
    expect(new Set(first)).toEqual(new Set([401]));
    expect(await statusOf('wrong')).toBe(429);
  });
});
