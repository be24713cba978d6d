// The authentication examples with real tokens, real executors and stock clients.
import { createHmac } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAdaptorServer } from '@hono/node-server';
import { Client } from '@langchain/langgraph-sdk';
import { createClient } from '@svc/sdk';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../../../examples/auth-api-key/team-keys.ts';
import { calendar } from '../../../../examples/auth-jwt/demo/calendar.ts';
import {
  createIdentityProvider,
  type IdentityProvider,
} from '../../../../examples/auth-jwt/demo/identity-provider.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { databaseText } from './database-text.ts';
import { sharedFolder } from '../folders.ts';

const project = (name: string): string =>
  fileURLToPath(new URL(`../../../../examples/${name}/svc.json`, import.meta.url));
const question = { messages: [{ role: 'user', content: 'What is on today?' }] };
const missing = '00000000-0000-4000-8000-000000000000';

describe('examples/auth-jwt', () => {
  let demo: ReturnType<typeof createAdaptorServer>;
  let issuer: string;
  let provider: IdentityProvider;
  let server: TestServer;
  let calendarToken: string;

  beforeAll(async () => {
    const secrets = new URL('../../../../examples/auth-jwt/demo/secrets.json', import.meta.url);
    ({ 'calendar/alice': calendarToken } = JSON.parse(await readFile(secrets, 'utf8')) as {
      'calendar/alice': string;
    });
    const app = new Hono();
    demo = createAdaptorServer({ fetch: app.fetch });
    await new Promise<void>((resolve) => demo.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(demo.address() as AddressInfo).port}`;
    provider = await createIdentityProvider(issuer);
    app.route('/', provider.app).route('/calendar', calendar);
    process.env['ISSUER'] = issuer;
    process.env['CALENDAR_URL'] = `${issuer}/calendar`;
    server = await startTestServer({ project: project('auth-jwt') });
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    demo.close();
  });

  const tokenOf = async (name: 'alice' | 'bob'): Promise<string> => {
    const password = { alice: 'wonderland', bob: 'builder' }[name];
    const response = await fetch(`${issuer}/login`, {
      method: 'POST',
      body: JSON.stringify({ name, password }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const stock = (token: string): Client => new Client({ apiUrl: server.url, defaultHeaders: bearer(token) });
  const ours = (token: string) => createClient({ apiUrl: server.url, headers: bearer(token) });

  it('gives each user their own threads and no others', async () => {
    const [alice, bob] = [stock(await tokenOf('alice')), stock(await tokenOf('bob'))];
    const { thread_id } = await alice.threads.create();
    await alice.runs.wait(thread_id, 'planner', { input: question });
    expect((await alice.threads.search()).map((thread) => thread.thread_id)).toContain(thread_id);
    expect(await bob.threads.search()).toEqual([]);
    await expect(bob.threads.get(thread_id)).rejects.toThrow(/404/);
    await expect(bob.threads.getState(thread_id)).rejects.toThrow(/404/);
    await expect(bob.runs.wait(thread_id, 'planner', { input: question })).rejects.toThrow(/404/);
    await expect(bob.threads.update(thread_id, { metadata: { owner: 'bob' } })).rejects.toThrow(/404/);
    await expect(bob.threads.delete(thread_id)).rejects.toThrow(/404/);
    expect(await alice.threads.get(thread_id)).toMatchObject({
      status: 'idle',
      metadata: { owner: 'alice', svc_auth_user_id: 'alice' },
    });
  });

  it('rejects creating a thread for another user, or giving one away', async () => {
    const alice = stock(await tokenOf('alice'));
    const { thread_id } = await alice.threads.create({ metadata: { owner: 'bob' } });
    await alice.threads.update(thread_id, { metadata: { owner: 'bob' } });
    expect((await alice.threads.get(thread_id)).metadata).toMatchObject({ owner: 'alice' });
  });

  it('calls the calendar as the user, from a node', async () => {
    for (const [name, day] of [
      ['alice', 'Today: 9:30 tea with the hatter, 14:00 croquet.'],
      ['bob', 'Today: 8:00 fix the roof.'],
    ] as const) {
      const values = await stock(await tokenOf(name)).runs.wait(null, 'planner', { input: question });
      expect((values as { messages: { content: string }[] }).messages.at(-1)?.content).toBe(day);
    }
  });

  it('serves @svc/sdk, and streams to it', async () => {
    const client = ours(await tokenOf('bob'));
    const { thread_id } = await client.threads.create();
    const events: unknown[] = [];
    for await (const { event, data } of client.runs.stream(thread_id, 'planner', {
      input: question,
      stream_mode: 'custom',
    }))
      if (event === 'custom') events.push(data);
    expect(events).toEqual(['Looking into the calendar of bob …']);
    await expect(ours(await tokenOf('alice')).threads.get(thread_id)).rejects.toMatchObject({ status: 404 });
  });

  it('answers 401 for every invalid token', async () => {
    const claims = { sub: 'alice', org: 'acme' };
    const good = await provider.sign(claims);
    const now = Math.floor(Date.now() / 1000);
    const [head = '', body = '', signature = ''] = good.split('.');
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
    const spki = Buffer.from(await crypto.subtle.exportKey('spki', provider.publicKey));
    const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64')}\n-----END PUBLIC KEY-----\n`;
    const hs256 = (secret: Buffer | string): string => {
      const text = `${encode({ alg: 'HS256', kid })}.${body}`;
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const stranger = await createIdentityProvider(issuer);
    const tokens = {
      good,
      expired: await provider.sign({ ...claims, exp: now - 60 }),
      'not yet valid': await provider.sign({ ...claims, nbf: now + 600 }),
      'of another audience': await provider.sign({ ...claims, aud: 'another-service' }),
      'of another issuer': await provider.sign({ ...claims, iss: 'http://127.0.0.1:1' }),
      'without a subject': await provider.sign({ org: 'acme' }),
      'without an organisation': await provider.sign({ sub: 'alice' }),
      'that never expires': await provider.sign({ ...claims, exp: undefined }),
      'with alg none': `${encode({ alg: 'none', kid })}.${body}.`,
      'with HS256 and the public key as PEM': hs256(pem),
      'with HS256 and the public key as bytes': hs256(spki),
      'of another key': await stranger.sign(claims),
      'with a changed claim': `${head}.${encode({ ...claims, sub: 'bob', iss: issuer })}.${signature}`,
      'without a signature': `${head}.${body}.`,
      'that is not a JWT': 'alice',
    };
    const statuses = await Promise.all(
      Object.entries(tokens).map(async ([name, token]) => {
        const response = await fetch(`${server.url}/threads/search`, {
          method: 'POST',
          headers: { ...bearer(token), 'content-type': 'application/json' },
          body: '{}',
        });
        return [name, response.status, response.headers.get('www-authenticate')];
      }),
    );
    expect(statuses).toEqual(
      Object.keys(tokens).map((name) => (name === 'good' ? [name, 200, null] : [name, 401, 'Bearer'])),
    );
  });

  it('reports that the provider is unavailable, and does not reject a valid token as invalid', async () => {
    const token = await tokenOf('alice');
    process.env['ISSUER'] = 'http://127.0.0.1:1';
    try {
      await using other = await startTestServer({ executors: 'none', project: project('auth-jwt') });
      const response = await fetch(`${other.url}/threads/${missing}`, { headers: bearer(token) });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ message: 'The identity provider does not answer' });
    } finally {
      process.env['ISSUER'] = issuer;
    }
  });

  const sealedUsers = (runId: string) =>
    server.database.query<{ sealed: string }>(
      { name: 'test_sealed', text: 'select sealed from run_users where run_id = $1' },
      [runId],
    );

  /** Throws when the text contains a token of the user, or another property that no handler has returned. */
  const assertAbsent = (text: string, token: string): void => {
    const found = [calendarToken, token, 'assistants:write'].filter((secret) => text.includes(secret));
    expect(found).toEqual([]);
  };

  const modes = [
    ...(['values', 'updates', 'messages', 'messages-tuple', 'custom', 'tasks'] as const),
    ...(['debug', 'checkpoints', 'events'] as const),
  ];

  it('keeps the tokens of users out of the database and out of every response', async () => {
    const token = await tokenOf('alice');
    const client = stock(token);
    const { thread_id } = await client.threads.create();
    const waiting = await client.runs.create(thread_id, 'planner', { input: question, afterSeconds: 3_600 });
    const answers: unknown[] = [waiting, await client.runs.get(thread_id, waiting.run_id)];
    // While the run waits, its user is stored encrypted.
    expect(await sealedUsers(waiting.run_id)).toEqual([{ sealed: expect.stringMatching(/^v1\./) }]);
    assertAbsent(await databaseText(server.database), token);
    await client.runs.cancel(thread_id, waiting.run_id, true);

    const stream = client.runs.stream(thread_id, 'planner', {
      input: question,
      streamMode: [...modes],
      streamResumable: true,
      durability: 'sync',
    });
    let runId = '';
    for await (const event of stream) {
      answers.push(event);
      if (event.event === 'metadata') runId = event.data.run_id;
      // While the run executes, the same holds.
      if (event.event === 'custom') assertAbsent(await databaseText(server.database), token);
    }
    const cron = await client.crons.createForThread(thread_id, 'planner', {
      schedule: '0 0 1 1 *',
      input: question,
    });
    answers.push(
      cron,
      await client.runs.get(thread_id, runId),
      await client.runs.list(thread_id),
      await client.threads.get(thread_id),
      await client.threads.search({ select: ['values', 'config', 'metadata', 'interrupts'] }),
      await client.threads.getState(thread_id),
      await client.threads.getHistory(thread_id),
      await client.crons.search(),
    );
    const text = JSON.stringify(answers);
    const stored = await databaseText(server.database);
    // The search would find it: the calendar's response is found.
    expect(text).toContain('tea with the hatter');
    expect(stored).toContain('tea with the hatter');
    assertAbsent(text, token);
    assertAbsent(stored, token);
    expect(await sealedUsers(runId)).toEqual([]);
  });

  it('shows assistants to the whole organization, and lets some of its members create them', async () => {
    const [alice, bob] = [stock(await tokenOf('alice')), stock(await tokenOf('bob'))];
    const carol = stock(
      await provider.sign({ sub: 'carol', org: 'other', permissions: ['assistants:write'] }),
    );
    const { assistant_id } = await alice.assistants.create({ graphId: 'planner', name: 'Mornings' });
    expect(await bob.assistants.get(assistant_id)).toMatchObject({
      name: 'Mornings',
      metadata: { org: 'acme' },
    });
    await expect(bob.assistants.create({ graphId: 'planner' })).rejects.toThrow(/403/);
    await expect(bob.assistants.update(assistant_id, { name: 'Mine' })).rejects.toThrow(/403/);
    await expect(bob.assistants.delete(assistant_id)).rejects.toThrow(/403/);
    await expect(carol.assistants.get(assistant_id)).rejects.toThrow(/404/);
    await expect(carol.runs.wait(null, assistant_id, { input: question })).rejects.toThrow(/404/);
    expect(await carol.assistants.search()).toEqual([]);
    expect(await bob.runs.wait(null, assistant_id, { input: question })).toMatchObject({
      appointments: [{ what: 'fix the roof' }],
    });
  });

  it('keeps items of the store below the name of their user', async () => {
    const [alice, bob] = [stock(await tokenOf('alice')), stock(await tokenOf('bob'))];
    await alice.store.putItem(['notes'], 'tea', { with: 'the hatter' });
    const { items } = await alice.store.searchItems([]);
    expect(items).toMatchObject([{ namespace: ['alice', 'notes'], key: 'tea' }]);
    // In the spelling of the reads and in that of the writes.
    expect(await alice.store.getItem(['alice', 'notes'], 'tea')).toMatchObject({
      value: { with: 'the hatter' },
    });
    expect(await alice.store.getItem(['notes'], 'tea')).toMatchObject({ value: { with: 'the hatter' } });
    expect((await alice.store.listNamespaces()).namespaces).toEqual([['alice', 'notes']]);
    for (const namespace of [['notes'], ['alice', 'notes'], ['*', 'notes']])
      expect(await bob.store.getItem(namespace, 'tea')).toBeNull();
    expect((await bob.store.searchItems(['alice'])).items).toEqual([]);
    expect((await bob.store.listNamespaces({ prefix: ['*'] })).namespaces).toEqual([]);
    await bob.store.deleteItem(['alice', 'notes'], 'tea');
    expect(await alice.store.getItem(['notes'], 'tea')).not.toBeNull();
  });
});

describe('examples/auth-api-key', () => {
  const red = newKey({ team: 'red', name: 'ann', kind: 'person' });
  const robot = newKey({ team: 'red', name: 'robot', kind: 'service' });
  const blue = newKey({ team: 'blue', name: 'ben', kind: 'person' });
  const folder = sharedFolder();
  let server: TestServer;

  beforeAll(async () => {
    const file = join(folder, 'team-keys.json');
    await writeFile(file, JSON.stringify([red.row, robot.row, blue.row]));
    process.env['TEAM_KEYS_FILE'] = file;
    server = await startTestServer({ project: project('auth-api-key') });
  });

  afterAll(async () => {
    delete process.env['TEAM_KEYS_FILE']; // the worker has further test files
    await server?.[Symbol.asyncDispose]();
  });

  const clientOf = ({ key }: { key: string }): Client =>
    new Client({ apiUrl: server.url, apiKey: null, defaultHeaders: { 'x-team-key': key } });

  it('shares threads within a team', async () => {
    const { thread_id } = await clientOf(red).threads.create();
    const values = await clientOf(robot).runs.wait(thread_id, 'echo', { input: { text: 'beep' } });
    expect(values).toEqual({ text: 'beep', answer: 'red/robot says: beep' });
    expect(await clientOf(red).threads.getState(thread_id)).toMatchObject({ values });
    await expect(clientOf(blue).threads.get(thread_id)).rejects.toThrow(/404/);
    expect(await clientOf(blue).threads.search()).toEqual([]);
  });

  it('lets services run and read, and change nothing else', async () => {
    const client = clientOf(robot);
    const { thread_id } = await client.threads.create();
    expect((await client.threads.search()).map((thread) => thread.thread_id)).toContain(thread_id);
    await expect(client.threads.delete(thread_id)).rejects.toThrow(/403/);
    await expect(client.threads.update(thread_id, { metadata: {} })).rejects.toThrow(/403/);
    await expect(client.assistants.create({ graphId: 'echo' })).rejects.toThrow(/403/);
    await expect(client.crons.create('echo', { schedule: '0 0 1 1 *' })).rejects.toThrow(/403/);
    await expect(client.store.putItem(['notes'], 'a', {})).rejects.toThrow(/403/);
    await clientOf(red).threads.delete(thread_id);
  });

  it('keeps a store for each team', async () => {
    await clientOf(red).store.putItem(['notes'], 'plan', { day: 1 });
    expect(await clientOf(robot).store.getItem(['notes'], 'plan')).toMatchObject({
      namespace: ['red', 'notes'],
    });
    expect(await clientOf(blue).store.getItem(['red', 'notes'], 'plan')).toBeNull();
  });

  it.each([
    ['no key', undefined],
    ['an unknown key', 'team_unknown'],
    ['the hash of a key', red.row.hash],
    ['two keys', `${red.key}, ${blue.key}`],
  ])('answers 401 for %s', async (_, key) => {
    const response = await fetch(`${server.url}/threads/${missing}`, {
      headers: key === undefined ? {} : { 'x-team-key': key },
    });
    expect(response.status).toBe(401);
  });
});
