// Signing in to the console at an OpenID Connect provider.
import { fileURLToPath } from 'node:url';
import type { ConsoleSession, Thread } from '@svc/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { stopClock } from '../stopped-clock.ts';
import { Browser, startProvider } from './provider.ts';
import { providerProject, type ProviderProject } from './provider-project.ts';
import { Tab } from './tab.ts';
import { fixture } from '../fixture.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const chatGraph = here('../graphs/chat.ts:chat');
const secret = 'a secret of the provider: 100 %';
const workspaceKey = `test-${'b'.repeat(32)}`;

let project: ProviderProject;
const provider = fixture(() => startProvider());
let server: TestServer;
beforeAll(async () => {
  process.env['TEST_ISSUER'] = provider.issuer;
  project = await providerProject(provider.issuer, { chat: chatGraph });
  server = await startTestServer({
    executors: 'none',
    project: project.file,
    settings: {
      consoleOidcSecret: secret,
      bootstrapApiKey: workspaceKey,
      trustedProxies: '127.0.0.1',
    },
  });
  provider.register(callback(), secret);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await project[Symbol.asyncDispose]();
});
beforeEach(() => {
  provider.user = 'alice';
  provider.isForging = false;
});

const callback = (): string => `${server.url}/console/auth/oidc/callback`;
const start = (returnTo = '/console/threads?status=idle'): string =>
  `${server.url}/console/auth/oidc/start?return_to=${encodeURIComponent(returnTo)}`;

/** The tab of a browser after it has signed in. */
const tabOf = async (browser: Browser): Promise<{ tab: Tab; session: ConsoleSession }> => {
  const tab = new Tab(server.url);
  tab.cookie = browser.cookie(server.url, `svc-console-${new URL(server.url).port}`);
  return { tab, session: await tab.load() };
};

/** Signs in, and stops before the browser comes back. */
const beforeReturn = async (browser: Browser): Promise<URL> => {
  let at = new URL(start());
  while (!at.href.startsWith(callback())) {
    const response = await browser.get(at);
    at = new URL(response.headers.get('location') ?? '', at);
  }
  return at;
};

const failure = (at: URL): string => at.pathname + at.search;

describe('a user who signs in at the provider', () => {
  it('comes back to the page, with a session of their own', async () => {
    const [alice, bob] = [new Browser(), new Browser()];
    expect((await alice.go(start())).href).toBe(`${server.url}/console/threads?status=idle`);
    provider.user = 'bob';
    await bob.go(start());
    const [ofAlice, ofBob] = [await tabOf(alice), await tabOf(bob)];
    expect(ofAlice.session).toMatchObject({
      sign_in: { kind: 'oidc', provider: new URL(provider.issuer).host },
      deployment: { identity: 'alice' },
    });
    expect(ofBob.session.deployment).toEqual({ identity: 'bob', graphs: ['chat'], admin_key_file: null });
    const { thread_id } = (await ofAlice.tab.send('POST', '/threads', {})).body as Thread;
    expect(await ofAlice.tab.send('GET', `/threads/${thread_id}`)).toMatchObject({ status: 200 });
    expect(await ofBob.tab.send('GET', `/threads/${thread_id}`)).toMatchObject({ status: 404 });
  });

  it('gets a session that scripts cannot read and other sites cannot use', async () => {
    const browser = new Browser();
    const response = await browser.get(await beforeReturn(browser));
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/HttpOnly; SameSite=Strict$/)]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('keeps the key of a workspace that the browser has entered', async () => {
    const browser = new Browser();
    await browser.go(start());
    const { tab } = await tabOf(browser);
    await tab.signIn({ key: workspaceKey });
    // The page is left for the provider: the browser sends the cookie of its session with this request only.
    const begin = await fetch(start(), {
      redirect: 'manual',
      headers: { cookie: tab.cookie ?? '', 'sec-fetch-site': 'same-origin' },
    });
    const again = new Browser();
    again.take(server.url, begin.headers.getSetCookie());
    await again.go(begin.headers.get('location') ?? '');
    expect((await tabOf(again)).session).toMatchObject({
      deployment: { identity: 'alice' },
      workspace: { role: 'admin' },
    });
    expect((await tab.load()).csrf_token).toBeNull();
  });

  it('signs in in two tabs at once', async () => {
    const browser = new Browser();
    const [first, second] = [await beforeReturn(browser), await beforeReturn(browser)];
    for (const at of [first, second]) expect((await browser.go(at.href)).pathname).toBe('/console/threads');
  });
});

describe('a sign-in that fails', () => {
  it('says that the user has refused', async () => {
    provider.user = undefined;
    expect(failure(await new Browser().go(start()))).toBe('/console/?sign_in_error=denied');
  });

  it('says that the server does not know the user', async () => {
    provider.user = 'guest';
    const browser = new Browser();
    expect(failure(await browser.go(start()))).toBe('/console/?sign_in_error=refused');
    expect(browser.cookie(server.url, `svc-console-${new URL(server.url).port}`)).toBeUndefined();
  });

  it('says that it belongs to another browser, or took too long', async () => {
    const at = await beforeReturn(new Browser());
    expect(failure(await new Browser().go(at.href))).toBe('/console/?sign_in_error=expired');
  });

  it('says that the answer of the provider is not valid: a code is used twice, or for another attempt', async () => {
    const browser = new Browser();
    const [first, second] = [await beforeReturn(browser), await beforeReturn(browser)];
    await browser.go(first.href);
    expect(failure(await browser.go(first.href))).toBe('/console/?sign_in_error=provider');
    second.searchParams.set('code', first.searchParams.get('code') ?? '');
    expect(failure(await browser.go(second.href))).toBe('/console/?sign_in_error=provider');
  });

  it('says that the answer of the provider is not valid: another key has signed the ID token', async () => {
    provider.isForging = true;
    expect(failure(await new Browser().go(start()))).toBe('/console/?sign_in_error=provider');
  });

  it('counts as a failed authentication', async () => {
    const browser = new Browser();
    const at = await beforeReturn(browser);
    at.searchParams.set('code', 'a-guess');
    // An address of its own, which may fail 100 times while the clock stands still.
    const address = { 'x-forwarded-for': '203.0.113.7' };
    const statusOf = async () => (await browser.get(at, address)).status;
    const guess = async () => (await server.call('POST', '/threads', {}, address)).status;
    using _ = stopClock();
    for (const expected of [303, 303]) expect(await statusOf()).toBe(expected);
    const others = await Promise.all(Array.from({ length: 98 }, guess));
    expect(new Set(others)).toEqual(new Set([401]));
    expect([await guess(), await statusOf()]).toEqual([429, 429]);
  });

  it('says that the provider cannot be reached', async () => {
    const gone = await startProvider();
    const { issuer } = gone;
    await gone[Symbol.asyncDispose]();
    await using other = await providerProject(issuer, { chat: chatGraph });
    await using own = await startTestServer({ executors: 'none', project: other.file });
    expect(failure(await new Browser().go(`${own.url}/console/auth/oidc/start`))).toBe(
      '/console/?sign_in_error=provider',
    );
  });
});

describe('the address to which the provider sends the user', () => {
  const forwarded = { redirect: 'manual', headers: { 'x-forwarded-proto': 'https' } } as const;
  const redirectUri = ({ headers }: Response): string | null =>
    new URL(headers.get('location') ?? '').searchParams.get('redirect_uri');

  it('has the scheme of the connection: a client may not forward another one', async () => {
    await using direct = await startTestServer({ executors: 'none', project: project.file });
    const begin = `${direct.url}/console/auth/oidc/start`;
    expect(redirectUri(await fetch(begin, forwarded))).toBe(`${direct.url}/console/auth/oidc/callback`);
  });

  it('has the scheme that a trusted proxy forwards', async () => {
    const { host } = new URL(server.url);
    expect(redirectUri(await fetch(start(), forwarded))).toBe(`https://${host}/console/auth/oidc/callback`);
  });
});

describe('below a prefix', () => {
  it('a user comes back below the prefix', async () => {
    await using other = await startProvider();
    await using own = await providerProject(other.issuer, { chat: chatGraph });
    await using prefixed = await startTestServer({
      executors: 'none',
      project: own.file,
      settings: { mountPrefix: '/agents' },
    });
    other.register(`${prefixed.url}/console/auth/oidc/callback`);
    other.user = 'alice';
    const begin = `${prefixed.url}/console/auth/oidc/start`;
    // The auth module trusts the first provider only.
    expect(failure(await new Browser().go(begin))).toBe('/agents/console/?sign_in_error=refused');
    other.user = undefined;
    expect(failure(await new Browser().go(begin))).toBe('/agents/console/?sign_in_error=denied');
  });
});

describe('bad input', () => {
  it.each([
    'https://evil.example/console/',
    '//evil.example/console/',
    '/threads',
    '/console/../threads',
    '/consoles',
  ])('refuses to return to %s', async (path) => {
    const response = await fetch(start(path), { redirect: 'manual' });
    expect(response.status).toBe(422);
    expect(response.headers.get('location')).toBeNull();
  });

  it('refuses a callback without a state, and a cookie that this server has not written', async () => {
    expect((await fetch(callback(), { redirect: 'manual' })).status).toBe(422);
    const state = 'abcdefgh-and-more';
    const cookie = `svc-console-oidc-abcdefgh=v1.00000000.${'A'.repeat(80)}`;
    const response = await fetch(`${callback()}?state=${state}&code=1`, {
      redirect: 'manual',
      headers: { cookie },
    });
    expect(response.headers.get('location')).toBe('/console/?sign_in_error=expired');
  });

  it('takes no token from a form', async () => {
    expect(await new Tab(server.url).signIn({ token: 'alice' })).toMatchObject({ status: 422 });
  });

  it('a server without a provider has no such sign-in', async () => {
    await using own = await startTestServer({ executors: 'none', project: here('./project/svc.json') });
    const response = await fetch(`${own.url}/console/auth/oidc/start`, { redirect: 'manual' });
    expect(response.status).toBe(404);
  });
});
