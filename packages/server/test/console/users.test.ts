// Sessions of the console on servers with custom authentication, behind TLS, and without authentication.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Thread } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { signedIn, Tab } from './tab.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));
const workspaceKey = `test-${randomBytes(16).toString('hex')}`;

const server = fixture(() =>
  startTestServer({
    executors: 'none',
    project,
    settings: { bootstrapApiKey: workspaceKey, trustedProxies: '127.0.0.1' },
  }),
);

const threadsOf = async (tab: Tab): Promise<string[]> => {
  const { body } = await tab.send('POST', '/threads/search', {});
  return (body as Thread[]).map(({ thread_id }) => thread_id);
};

describe('with custom authentication', () => {
  it('two users see only their own threads', async () => {
    const alice = await signedIn(server.url, { token: 'alice' });
    const bob = await signedIn(server.url, { token: 'Bearer bob' });
    expect(await alice.load()).toMatchObject({
      sign_in: { kind: 'bearer', header: null },
      deployment: { identity: 'alice' },
    });
    const created = await alice.send('POST', '/threads', {});
    const { thread_id } = created.body as Thread;
    expect(await threadsOf(alice)).toEqual([thread_id]);
    expect(await threadsOf(bob)).toEqual([]);
    expect(await bob.send('GET', `/threads/${thread_id}`)).toMatchObject({ status: 404 });
    // The cookie of one user with the token of the other is no session.
    const { cookie } = alice;
    expect(await bob.send('GET', `/threads/${thread_id}`, undefined, { cookie })).toMatchObject({
      status: 401,
    });
  });

  it('a token that the handler refuses opens nothing, with the answer of the handler', async () => {
    expect(await new Tab(server.url).signIn({ token: 'not-a-name!' })).toMatchObject({
      status: 401,
      body: { message: 'Who are you?' },
    });
  });

  it('another user in the same browser does not get the workspace of the first', async () => {
    const tab = await signedIn(server.url, { token: 'alice' });
    expect((await tab.signIn({ key: workspaceKey })).body).toMatchObject({
      deployment: { identity: 'alice' },
      workspace: { role: 'admin' },
    });
    expect((await tab.signIn({ token: 'bob' })).body).toMatchObject({
      deployment: { identity: 'bob' },
      workspace: null,
    });
  });

  it('signing out everywhere ends the sessions of the user, also those with a shared key', async () => {
    const [first, second, bob] = [
      await signedIn(server.url, { token: 'carol' }),
      await signedIn(server.url, { token: 'carol' }),
      await signedIn(server.url, { token: 'bob' }),
    ];
    for (const tab of [first, bob]) await tab.signIn({ key: workspaceKey });
    await second.send('DELETE', '/console/auth/sessions');
    expect(await first.send('POST', '/threads/search', {})).toMatchObject({ status: 401 });
    expect(await bob.send('POST', '/threads/search', {})).toMatchObject({ status: 200 });
  });

  it('without console.auth there is no token to enter', async () => {
    const undeclared = fileURLToPath(new URL('../access/project/svc.json', import.meta.url));
    await using own = await startTestServer({ executors: 'none', project: undeclared });
    const tab = new Tab(own.url);
    expect(await tab.load()).toMatchObject({ sign_in: { kind: 'undeclared' }, deployment: null });
    expect(await tab.signIn({ token: 'alice' })).toMatchObject({ status: 422 });
  });
});

describe('with a header that console.auth names', () => {
  it('the user of a session is the one of its token, whatever other cookies the browser adds', async () => {
    const byHeader = fileURLToPath(new URL('./header-project/svc.json', import.meta.url));
    await using own = await startTestServer({ executors: 'none', project: byHeader });
    const tab = await signedIn(own.url, { token: 'alice' });
    const { cookie = '' } = tab;
    expect(await tab.load()).toMatchObject({
      sign_in: { kind: 'header', header: 'X-User-Token' },
      deployment: { identity: 'alice' },
    });
    const ownerOf = async (changed: Record<string, string | undefined>): Promise<unknown> =>
      ((await tab.send('POST', '/threads', {}, changed)).body as Thread).metadata?.['svc_auth_user_id'];
    expect(await ownerOf({ cookie: `login=bob; ${cookie}` })).toBe('alice');
    // Without the session, `authenticate` gets the other cookie, and never the one of the session.
    expect(await ownerOf({ cookie: `${cookie}; login=bob`, 'x-svc-csrf': undefined })).toBe('bob');
    expect(await ownerOf({ 'x-user-token': 'carol' })).toBe('carol');
    const answer = await tab.send('POST', '/threads', {}, { 'x-svc-csrf': undefined });
    expect(answer).toMatchObject({ status: 401, body: { message: 'Who are you?' } });
  });

  it('a browser that the handler recognizes needs no session', async () => {
    const byHeader = fileURLToPath(new URL('./header-project/svc.json', import.meta.url));
    await using own = await startTestServer({ executors: 'none', project: byHeader });
    const tab = new Tab(own.url);
    tab.cookie = 'login=bob';
    expect(await tab.load()).toMatchObject({ deployment: { identity: 'bob' }, csrf_token: null });
  });
});

/** fetch() does not send a Host of one's choice. */
const rawRequest = async (url: string, tab: Tab, headers: Record<string, string>) => {
  const sent = request(`${url}/console/auth/session`, {
    method: 'POST',
    headers: { ...tab.headers, 'content-type': 'application/json', ...headers },
  });
  sent.end(JSON.stringify({ token: 'alice' }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response), headers: response.headers };
};

describe('behind a proxy that ends TLS', () => {
  const host = 'agents.example';
  const proxied = { 'x-forwarded-proto': 'https', origin: `https://${host}`, host };

  it('the cookie is for TLS only, and the origin must be the one of TLS', async () => {
    const tab = new Tab(server.url);
    const { status, body, headers } = await rawRequest(server.url, tab, proxied);
    expect([status, body]).toEqual([200, expect.stringContaining('alice')]);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-svc-console=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
    const plain = await rawRequest(server.url, tab, { ...proxied, origin: `http://${host}` });
    expect(plain.status).toBe(403);
  });
});

describe('without authentication on this machine', () => {
  it('the deployment API is open, and a session is only for a workspace', async () => {
    await using own = await startTestServer({
      executors: 'none',
      settings: { bootstrapApiKey: workspaceKey, consoleViewer: 'off' },
    });
    const tab = new Tab(own.url);
    expect(await tab.load()).toMatchObject({
      sign_in: { kind: 'none' },
      deployment: { identity: null },
      workspace: null,
      csrf_token: null,
    });
    await tab.signIn({ key: workspaceKey });
    expect(await tab.send('GET', '/api/v1/sessions')).toMatchObject({ status: 200 });
    expect(await tab.send('POST', '/threads/search', {})).toMatchObject({ status: 200 });
  });

  it('there are no sessions where the console is off', async () => {
    await using own = await startTestServer({ executors: 'none', settings: { console: 'off' } });
    expect(await own.call('GET', '/console/auth/session')).toMatchObject({ status: 404 });
  });
});
