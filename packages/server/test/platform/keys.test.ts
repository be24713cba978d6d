// Keys, roles and workspaces: permissions, scope and expiry.
import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { platformRoutes, type ApiKey, type NewApiKey, type RouteShape, type Workspace } from '@svc/contract';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../eventually.ts';
import { bootstrap } from '../../src/auth/keys/bootstrap.ts';
import { KeyAuthenticator } from '../../src/auth/keys/key-authenticator.ts';
import { keyHandlers, KeyService } from '../../src/auth/keys/key-service.ts';
import { hashKey, isMistyped, newKeyText } from '../../src/auth/keys/key-text.ts';
import { apiKeyStorage } from '../../src/storage/auth/api-keys.ts';
import { traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { startTestServer } from '../server.ts';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';
import { testFolder } from '../folders.ts';

const platform = fixture(() => startPlatform());

const newKey = async (options: object = {}): Promise<NewApiKey> => {
  const { status, body } = await platform.call('POST', '/api-key', {
    json: options,
    headers: { 'x-tenant-id': platform.workspace_id },
  });
  expect(status).toBe(200);
  return body as NewApiKey;
};

const routes = Object.entries(platformRoutes) as [string, RouteShape][];

describe('a key', () => {
  it('has a checksum that detects typing errors', () => {
    const { text: key, prefix } = newKeyText('service');
    expect(key).toMatch(/^svc_sk_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/);
    expect(key.slice(0, 15)).toBe(prefix);
    expect(isMistyped(key)).toBe(false);
    expect(isMistyped(`${key.slice(0, 20)}${key[20] === 'a' ? 'b' : 'a'}${key.slice(21)}`)).toBe(true);
    expect(newKeyText('personal').text).toMatch(/^svc_pt_/);
  });

  it('is shown once and not stored', async () => {
    const made = await newKey({ description: 'once' });
    const list = (await platform.call('GET', '/api-key')).body as ApiKey[];
    expect(list.find((one) => one.id === made.id)).toMatchObject({
      short_key: made.short_key,
      description: 'once',
    });
    expect(JSON.stringify(list)).not.toContain(made.key);
    const rows = await platform.server.database.query(
      { name: 'dump', text: 'select k::text from api_keys k' },
      [],
    );
    expect(JSON.stringify(rows)).not.toContain(made.key);
    const secret = made.key.slice(made.short_key.length + 1);
    for (let at = 0; at + 6 <= secret.length; at++)
      expect(JSON.stringify([rows, list])).not.toContain(secret.slice(at, at + 6));
    expect(made.key.startsWith(`${made.short_key}_`)).toBe(true);
  });

  it('that was chosen by the operator is listed without any part of it', async () => {
    const inOwn = { headers: { 'x-tenant-id': platform.workspace_id } };
    const list = (await platform.call('GET', '/api-key', inOwn)).body as ApiKey[];
    const chosen = list.find(({ description }) => description === 'SVC_BOOTSTRAP_API_KEY');
    expect(chosen?.short_key).toBe('SVC_BOOTSTRAP_API_KEY');
    expect(JSON.stringify(list)).not.toContain(platform.key.slice(0, 11));
    expect(JSON.stringify(list)).not.toContain(platform.key.slice(-4));
  });

  it('is listed only for keys that reach all of its workspaces, so that ids of other workspaces stay hidden', async () => {
    await using own = await startPlatform();
    const made = await own.call('POST', '/workspaces', {
      json: { display_name: 'theirs' },
      headers: { 'x-tenant-id': own.workspace_id },
    });
    const theirs = (made.body as Workspace).id;
    const inTheirs = { headers: { 'x-tenant-id': theirs } };
    const admin = (await own.call('POST', '/api-key', { ...inTheirs, json: { role: 'admin' } }))
      .body as NewApiKey;
    const both = { role: 'viewer', workspaces: [theirs, own.workspace_id] };
    const wide = (await own.call('POST', '/api-key', { ...inTheirs, json: both })).body as NewApiKey;
    const list = (await own.call('GET', '/api-key', { key: admin.key })).body as ApiKey[];
    expect(list.map(({ id }) => id)).toEqual([admin.id]);
    expect(JSON.stringify(list)).not.toContain(own.workspace_id);
    const all = (await own.call('GET', '/api-key', inTheirs)).body as ApiKey[];
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([admin.id, wide.id]));
  });

  it('is required on every route that is not public', async () => {
    for (const [name, route] of routes) {
      const path = route.path.replaceAll(/:\w+/g, randomUUID());
      const headers = { 'content-type': 'application/json' };
      const body = route.method === 'get' || route.method === 'delete' ? {} : { body: '{}' };
      const { status } = await platform.call(route.method.toUpperCase(), path, {
        key: null,
        headers,
        ...body,
      });
      // The token in its path is the credential, and this one does not exist.
      const isLink = ['useFeedbackToken', 'visitFeedbackToken', 'openAttachmentLink'].includes(name);
      expect([name, status]).toEqual([name, route.access !== 'public' ? 401 : isLink ? 404 : 200]);
    }
  });

  it.each([
    ['admin', ['ingest', 'read', 'write', 'admin']],
    ['editor', ['ingest', 'read', 'write']],
    ['viewer', ['read']],
    ['ingest', ['ingest']],
  ])('with the role %s has the permissions %j on every route', async (role, permissions) => {
    const { key } = await newKey({ role });
    for (const [name, route] of routes) {
      if (typeof route.access === 'string' || !('permission' in route.access)) continue;
      const path = route.path.replaceAll(/:\w+/g, 'x');
      const body = route.method === 'get' || route.method === 'delete' ? {} : { body: '[' };
      const { status } = await platform.call(route.method.toUpperCase(), path, { key, ...body });
      // An empty request or an unknown id: authorization is checked first.
      const expected = permissions.includes(route.access.permission)
        ? expect.toBeOneOf([200, 400, 404, 415, 422])
        : 403;
      expect([name, status]).toEqual([name, expected]);
    }
  });

  it('may be rejected any number of times, and other clients of its address are not limited by that', async () => {
    const { key } = await newKey({ role: 'ingest' });
    const listProjects = () => platform.call('GET', '/sessions', { key });
    const statuses = (await Promise.all(Array.from({ length: 300 }, listProjects))).map(
      ({ status }) => status,
    );
    expect(new Set(statuses)).toEqual(new Set([403]));
    expect(await platform.call('GET', '/sessions')).toMatchObject({ status: 200 });
  });

  it('is rejected on all nodes once it is revoked', async () => {
    await using other = await startTestServer({ executors: 'none', database: platform.server.database });
    const { id, key } = await newKey();
    const listProjects = async (url: string): Promise<number> =>
      (await fetch(`${url}/api/v1/sessions`, { headers: { 'x-api-key': key } })).status;
    expect([await listProjects(platform.server.url), await listProjects(other.url)]).toEqual([200, 200]);
    expect(await platform.call('DELETE', `/api-key/${id}`)).toMatchObject({ status: 200, body: { id } });
    await eventually(async () => {
      expect([await listProjects(platform.server.url), await listProjects(other.url)]).toEqual([401, 401]);
    });
    expect(await platform.call('DELETE', `/api-key/${id}`)).toMatchObject({ status: 404 });
  });

  const hourMs = 3_600_000;
  const expireIn = (id: string, seconds: number): Promise<unknown> =>
    platform.server.database.query(
      {
        name: 'expire_key',
        text: `update api_keys set expires_at = now() + $2 * interval '1 s' where id = $1`,
      },
      [id, seconds],
    );

  it('is rejected after it has expired', async () => {
    const { id, key } = await newKey({ expires_at: new Date(Date.now() + hourMs).toISOString() });
    await expireIn(id, -1);
    expect(await platform.call('GET', '/sessions', { key })).toMatchObject({ status: 401 });
  });

  /** Authenticates as a process that gets no notifications. */
  const authenticatorOf = (key: string) => {
    const authenticator = new KeyAuthenticator(apiKeyStorage(platform.server.database));
    const authenticate = async () =>
      authenticator.authenticate({
        header: (name) => (name === 'x-api-key' ? key : undefined),
        remoteAddress: undefined,
        request: () => new Request('http://localhost'),
      });
    return { authenticator, authenticate };
  };

  it('is rejected by the process that has revoked it, also before the notification', async () => {
    const { id, key } = await newKey({});
    const { authenticator, authenticate } = authenticatorOf(key);
    const caller = await authenticate();
    const service = new KeyService(apiKeyStorage(platform.server.database));
    await keyHandlers(service, authenticator).revokeKey(
      { params: { key_id: id } } as never,
      { caller } as never,
    );
    await expect(authenticate()).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is rejected after it has expired although it is cached', async () => {
    const { id, key } = await newKey({ expires_at: new Date(Date.now() + hourMs).toISOString() });
    const { authenticate } = authenticatorOf(key);
    const now = performance.now.bind(performance);
    let movedMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + movedMs);
    try {
      // Keys without an end are cached for longer.
      await expireIn(id, 25);
      await authenticate();
      await expireIn(id, -1);
      movedMs = 25_000;
      await expect(authenticate()).rejects.toMatchObject({ code: 'unauthenticated' });
    } finally {
      clock.mockRestore();
    }
  });

  it('has a time of last use', async () => {
    const { id, key } = await newKey();
    await platform.call('GET', '/sessions', { key });
    const list = (await platform.call('GET', '/api-key')).body as ApiKey[];
    expect(list.find((one) => one.id === id)?.last_used_at).toMatch(/^20/);
  });
});

describe('a workspace', () => {
  it('must be named by a key that reaches several, and be one of them', async () => {
    const own = await startPlatform();
    await using _ = own;
    const made = (await own.call('POST', '/workspaces', { json: { display_name: 'second' } }))
      .body as Workspace;
    const listProjects = (tenant?: string) =>
      own.call('GET', '/sessions', tenant === undefined ? {} : { headers: { 'x-tenant-id': tenant } });
    expect(await listProjects()).toMatchObject({ status: 400 });
    const listed = await own.call('GET', '/workspaces');
    expect((listed.body as Workspace[]).map(({ id }) => id).toSorted()).toEqual(
      [own.workspace_id, made.id].toSorted(),
    );
    const third = await own.call('POST', '/workspaces', { json: { display_name: 'third' } });
    expect(third).toMatchObject({ status: 200, body: { display_name: 'third' } });
    expect(await listProjects(made.id)).toMatchObject({ status: 200 });
    expect(await listProjects(own.workspace_id.toUpperCase())).toMatchObject({ status: 200 });
    expect(await listProjects(randomUUID())).toMatchObject({ status: 403 });
    expect(await listProjects('default')).toMatchObject({ status: 422 });
    expect((await own.call('GET', '/workspaces', { headers: { 'x-tenant-id': made.id } })).body).toHaveLength(
      3,
    );
    const foreign = { headers: { 'x-tenant-id': made.id }, json: { workspaces: [randomUUID()] } };
    expect(await own.call('POST', '/api-key', foreign)).toMatchObject({ status: 403 });
  });
});

const warn = (text: string): void => {
  throw new Error(text);
};

describe('the key of SVC_BOOTSTRAP_API_KEY', () => {
  const given = (name: string): string => `${name}-0123456789-0123456789-0123456789`;
  const start = async (db: TestDatabase, key: string | undefined): Promise<string[]> => {
    const warnings: string[] = [];
    const workspaceId = '00000000-0000-4000-8000-00000000000a';
    await bootstrap(apiKeyStorage(db), {
      dataDir: '/nowhere',
      key,
      workspaceId,
      warn: (text) => void warnings.push(text),
    });
    return warnings;
  };
  const holds = async (db: TestDatabase, key: string): Promise<boolean> =>
    (await apiKeyStorage(db).use(hashKey(key))) !== undefined;

  it('is the only valid one: a change revokes the former key, and no key that was created over the API', async () => {
    await using db = await testDatabase();
    const keys = apiKeyStorage(db);
    expect(await start(db, given('first'))).toEqual([]);
    const [first] = await keys.list(null);
    const byHand = await new KeyService(keys).create({
      description: 'SVC_BOOTSTRAP_API_KEY',
      role: 'admin',
      personal: false,
      workspaces: first?.workspaces ?? [],
      expires_at: null,
    });
    expect(await start(db, given('second'))).toEqual([]);
    const live = async () => [
      await holds(db, given('first')),
      await holds(db, given('second')),
      await holds(db, byHand.key),
    ];
    expect(await live()).toEqual([false, true, true]);
    expect(await start(db, given('first'))).toEqual([]);
    expect(await live()).toEqual([true, false, true]);
  });

  it('is no longer accepted by a node that has cached it, once another node starts with another key', async () => {
    await using server = await startTestServer({
      executors: 'none',
      settings: { bootstrapApiKey: given('first') },
    });
    const listProjects = async (key: string): Promise<number> =>
      (await fetch(`${server.url}/api/v1/sessions`, { headers: { 'x-api-key': key } })).status;
    expect(await listProjects(given('first'))).toBe(200);
    await using _ = await startTestServer({
      executors: 'none',
      database: server.database,
      settings: { bootstrapApiKey: given('second') },
    });
    await eventually(async () => expect(await listProjects(given('first'))).toBe(401));
    expect(await listProjects(given('second'))).toBe(200);
  });

  it('stays revoked when it was revoked over the API, and a start logs that', async () => {
    await using db = await testDatabase();
    const keys = apiKeyStorage(db);
    await start(db, given('first'));
    const [first] = await keys.list(null);
    await keys.revoke(first?.id ?? '', null);
    expect(await start(db, given('first'))).toEqual([
      `The key of SVC_BOOTSTRAP_API_KEY was revoked (API key ${first?.id}) and is not valid: set another one.`,
    ]);
    await start(db, given('second'));
    await start(db, given('first'));
    expect([await holds(db, given('first')), await holds(db, given('second'))]).toEqual([false, false]);
  });

  it('stays valid when the setting is removed, and a start logs how to revoke it', async () => {
    await using db = await testDatabase();
    await start(db, given('first'));
    const [warning] = await start(db, undefined);
    expect(warning).toContain('SVC_BOOTSTRAP_API_KEY is not set');
    expect(await holds(db, given('first'))).toBe(true);
  });
});

describe('the first start', () => {
  it('creates a workspace and a key once, in a file that only its owner can read', async () => {
    await using database = await testDatabase();
    const dataDir = testFolder();
    const keys = apiKeyStorage(database);
    const options = { dataDir, key: undefined, workspaceId: undefined, warn };
    const made = (await Promise.all([bootstrap(keys, options), bootstrap(keys, options)])).filter(Boolean);
    expect(made).toHaveLength(1);
    const [first] = made;
    if (!first) throw new Error('no key was made');
    expect((await readFile(first.file, 'utf8')).trim()).toBe(first.key);
    expect((await stat(first.file)).mode & 0o777).toBe(0o600);
    expect(await bootstrap(keys, options)).toBeUndefined();
    expect(await keys.list(null)).toMatchObject([{ role: 'admin', workspaces: [first.workspace_id] }]);
  });

  it('does not wait for the task that stores hourly sums', async () => {
    await using db = await testDatabase();
    const options = { dataDir: '/nowhere', key: 'given-key-0123456789', workspaceId: undefined, warn };
    await db.transact(async (tx) => {
      await traceHourStorage(tx).fold(60, 1);
      await bootstrap(apiKeyStorage(db), options);
    });
  });

  it('accepts the given key, also when repeated', async () => {
    await using database = await testDatabase();
    const keys = apiKeyStorage(database);
    const options = { dataDir: '/nowhere', key: 'a key of one’s own', workspaceId: randomUUID(), warn };
    for (let start = 0; start < 3; start++) expect(await bootstrap(keys, options)).toBeUndefined();
    expect(await keys.list(null)).toMatchObject([{ role: 'admin', workspaces: [options.workspaceId] }]);
  });
});
