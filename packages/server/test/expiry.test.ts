// Automatic deletion: threads and items after their time to live, and values without references.
import { createHash, randomUUID } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client as StockClient } from '@langchain/langgraph-sdk';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { loadSvcJson } from '../src/config/project/svc-json.ts';
import { testSettings } from './settings.ts';
import { startServer } from '../src/app/server.ts';
import { createLogger } from '../src/telemetry/logger.ts';
import { chatInput } from './chat-input.ts';
import { startTestServer, testProject, type TestServer } from './server.ts';
import { sharedFolder } from './folders.ts';

const folder = sharedFolder();
/** A project that sweeps every 60 ms; nothing expires without a ttl. */
let sweeping: string;
let server: TestServer;
let client: Client;
let stock: StockClient;

const projectOf = async (name: string, sections: object): Promise<string> => {
  const file = join(folder, name);
  const chat = `${join(dirname(testProject), 'chat.ts')}:chat`;
  const probe = `${join(dirname(testProject), 'probe.ts')}:probe`;
  await writeFile(file, JSON.stringify({ graphs: { chat, probe }, ...sections }));
  return file;
};

/**
 * A run that waited for a slot has a log, and is kept as long as its log. Any node may run the periodic task, so all nodes need the
 * setting.
 */
const settings = { streamTtl: '1s' };
const sweepOften = { sweep_interval_minutes: 0.001 };

beforeAll(async () => {
  sweeping = await projectOf('svc.json', { checkpointer: { ttl: sweepOften }, store: { ttl: sweepOften } });
  server = await startTestServer({ project: sweeping, settings });
  client = createClient({ apiUrl: server.url });
  stock = new StockClient({ apiUrl: server.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const minuteMs = 60_000;

/** Moves the start of the time to live into the past. */
const age = (thread_id: string, minutes: number, at: TestServer = server) =>
  at.database.query(
    {
      name: 'age',
      text: `update threads set state_updated_at = state_updated_at - $2 * interval '1 minute',
        ttl_since = ttl_since - $2 * interval '1 minute' where thread_id = $1`,
    },
    [thread_id, minutes],
  );
const ageItem = (key: string, minutes: number) =>
  server.database.query(
    {
      name: 'age_item',
      text: `update store_items set expires_at = expires_at - $2 * interval '1 minute' where key = $1`,
    },
    [key, minutes],
  );
const count = async (table: string, condition = 'true', at: TestServer = server): Promise<number> => {
  const text = `select count(*) as count from ${table} where ${condition}`;
  const name = createHash('sha1').update(text).digest('hex');
  const [row] = await at.database.query<{ count: number }>({ name, text }, []);
  return row?.count ?? 0;
};

const untilDeleted = (thread_id: string, at: TestServer = server) =>
  eventually(async () => expect((await at.call('GET', `/threads/${thread_id}`)).status).toBe(404));

describe('a thread', () => {
  it('returns when it expires, and each change of its state restarts the countdown', async () => {
    const made = await client.threads.create({ ttl: 60 });
    expect(made.ttl).toEqual({
      strategy: 'delete',
      ttl_minutes: 60,
      expires_at: new Date(Date.parse(made.state_updated_at) + 60 * minuteMs).toISOString(),
    });
    await age(made.thread_id, 30);
    const before = Date.parse((await client.threads.get(made.thread_id)).ttl?.expires_at ?? '');
    await client.runs.wait(made.thread_id, 'chat', { input: chatInput('hello') });
    const after = await client.threads.get(made.thread_id);
    expect(Date.parse(after.ttl?.expires_at ?? '')).toBe(Date.parse(after.state_updated_at) + 60 * minuteMs);
    expect(Date.parse(after.ttl?.expires_at ?? '') - before).toBeGreaterThan(29 * minuteMs);
    await age(made.thread_id, 30);
    await client.threads.updateState(made.thread_id, { values: chatInput('more'), asNode: 'answer' });
    const updated = await client.threads.get(made.thread_id);
    expect(Date.parse(updated.ttl?.expires_at ?? '')).toBeGreaterThanOrEqual(
      Date.parse(after.ttl?.expires_at ?? ''),
    );
    const [found] = await client.threads.search({ ids: [made.thread_id], select: ['ttl'] });
    expect(found).toEqual({ ttl: updated.ttl });
  });

  it('is deleted after its time to live, and others are kept', async () => {
    const short = await stock.threads.create({ ttl: 5 });
    const long = await stock.threads.create({ ttl: { ttl: 50 } });
    const ever = await client.threads.create();
    await client.runs.wait(short.thread_id, 'chat', { input: chatInput('hello') });
    for (const { thread_id } of [short, long, ever]) await age(thread_id, 10);
    await untilDeleted(short.thread_id);
    expect(await count('checkpoints', `thread_id = '${short.thread_id}'`)).toBe(0);
    expect(await count('runs', `thread_id = '${short.thread_id}'`)).toBe(0);
    expect((await client.threads.get(long.thread_id)).ttl).toMatchObject({ ttl_minutes: 50 });
    expect(await client.threads.get(ever.thread_id)).not.toHaveProperty('ttl');
  });

  it('gets a ttl later, which counts from then on, and loses it again', async () => {
    const { thread_id } = await client.threads.create();
    await age(thread_id, 1_000);
    const given = await stock.threads.update(thread_id, { ttl: 10, metadata: { a: 1 } });
    expect(given).toMatchObject({ metadata: { a: 1 }, ttl: { strategy: 'delete', ttl_minutes: 10 } });
    expect(Date.parse((await client.threads.get(thread_id)).ttl?.expires_at ?? '')).toBeGreaterThan(
      Date.now(),
    );
    expect((await client.threads.update(thread_id, { metadata: { b: 2 } })).ttl).toMatchObject({
      ttl_minutes: 10,
    });
    expect(await client.threads.update(thread_id, { ttl: null })).not.toHaveProperty('ttl');
  });

  it('keeps its strategy when only its minutes are changed', async () => {
    const { thread_id } = await client.threads.create({ ttl: { ttl: 5, strategy: 'keep_latest' } });
    // The stock client adds a strategy to a bare number.
    const patch = async (ttl: unknown) => (await server.call('PATCH', `/threads/${thread_id}`, { ttl })).body;
    for (const ttl of [1_440, { ttl: 30 }])
      expect(await patch(ttl)).toMatchObject({ ttl: { strategy: 'keep_latest' } });
    expect(await patch({ ttl: 30, strategy: 'delete' })).toMatchObject({ ttl: { strategy: 'delete' } });
  });

  it('with keep_latest is kept with its state and one entry of history', async () => {
    const { thread_id } = await client.threads.create({ ttl: { ttl: 5, strategy: 'keep_latest' } });
    for (const text of ['one', 'two']) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
    const { values } = await client.threads.getState(thread_id);
    await age(thread_id, 10);
    await eventually(async () => expect(await client.threads.getHistory(thread_id)).toHaveLength(1));
    await eventually(async () =>
      expect((await client.threads.get(thread_id)).ttl).toEqual({
        strategy: 'keep_latest',
        ttl_minutes: 5,
        expires_at: null,
      }),
    );
    expect((await client.threads.getState(thread_id)).values).toEqual(values);
    await client.runs.wait(thread_id, 'chat', { input: chatInput('three') });
    expect((await client.threads.get(thread_id)).ttl?.expires_at).toEqual(expect.any(String));
  });

  it('does not expire during a run', async () => {
    const { thread_id } = await client.threads.create({ ttl: 5 });
    const file = join(folder, 'may-end');
    const input = { do: 'writeWhen', out: file };
    const run = await client.runs.create(thread_id, 'probe', { input });
    await eventually(() => access(`${file}.begun`));
    await age(thread_id, 10);
    const other = await client.threads.create({ ttl: 5 });
    await age(other.thread_id, 10);
    await untilDeleted(other.thread_id); // a sweep has happened
    await writeFile(file, '');
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ out: 'wrote' });
    expect(Date.parse((await client.threads.get(thread_id)).ttl?.expires_at ?? '')).toBeGreaterThan(
      Date.now(),
    );
  });

  it.each([0, -1, 'soon', {}, { ttl: 0 }, { ttl: 5, strategy: 'burn' }, { ttl: 5, unit: 'h' }, 1e12])(
    'is rejected with the ttl %j',
    async (ttl) => {
      for (const [method, path] of [
        ['POST', '/threads'],
        ['PATCH', `/threads/${randomUUID()}`],
      ] as const) {
        const answer = await server.call(method, path, { ttl });
        expect(answer.status).toBe(422);
        expect((answer.body as { message: string }).message).toContain('ttl');
      }
    },
  );
});

describe('the default of a deployment', () => {
  let own: TestServer;
  let at: Client;
  beforeAll(async () => {
    const sections = {
      checkpointer: { ttl: { strategy: 'keep_latest', default_ttl: 90 } },
      store: { ttl: { default_ttl: 30 } },
    };
    own = await startTestServer({ project: await projectOf('default.json', sections) });
    at = createClient({ apiUrl: own.url });
  });
  afterAll(() => own[Symbol.asyncDispose]());

  it("applies to threads however they are created, and a thread's own ttl has priority", async () => {
    const expected = { strategy: 'keep_latest', ttl_minutes: 90 };
    const made = await at.threads.create();
    expect(made.ttl).toMatchObject(expected);
    expect((await at.threads.copy(made.thread_id)).ttl).toMatchObject(expected);
    const implicit = randomUUID();
    await at.runs.wait(implicit, 'chat', { input: chatInput('x'), if_not_exists: 'create' });
    expect((await at.threads.get(implicit)).ttl).toMatchObject(expected);
    expect((await at.threads.create({ ttl: 5 })).ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 5 });
    expect(await at.threads.create({ ttl: null })).not.toHaveProperty('ttl');
  });

  it('applies to the items of a graph', async () => {
    await at.runs.wait(null, 'probe', { input: { do: 'remember' } });
    await at.store.put(['notes'], 'two', {});
    await at.store.put(['notes'], 'ever', {}, { ttl: null });
    expect(await count('store_items', `ttl_minutes = 30 and expires_at > now()`, own)).toBe(2);
    expect(await count('store_items', `expires_at is null`, own)).toBe(1);
  });
});

describe('two nodes', () => {
  it('sweep the same database, and everything that has expired is deleted', async () => {
    const own = testSettings({ ...settings, dataDir: folder, databaseUri: server.database.uri });
    const second = await startServer({
      settings: { ...own, runs: { ...own.runs, executors: 0 } },
      project: loadSvcJson(sweeping, {}),
      logger: createLogger(own.log),
    });
    try {
      const made = await Promise.all(Array.from({ length: 30 }, () => client.threads.create({ ttl: 5 })));
      const ids = made.map(({ thread_id }) => thread_id);
      for (let n = 0; n < 30; n++) await client.store.put(['swept'], `k${n}`, { n }, { ttl: 5 });
      await server.database.script(`
        update threads set state_updated_at = now() - interval '1 hour' where ttl_minutes = 5;
        update store_items set expires_at = now() where namespace[1] = 'swept';`);
      await eventually(async () => {
        expect(await client.threads.search({ ids })).toEqual([]);
        expect(await count('store_items', `namespace[1] = 'swept'`)).toBe(0);
      });
    } finally {
      await second[Symbol.asyncDispose]();
    }
  });
});

describe('a stateless run', () => {
  it('leaves no thread behind, except with on_completion keep', async () => {
    const threads = await count('threads');
    const checkpoints = await count('checkpoints');
    await client.runs.wait(null, 'chat', { input: chatInput('a') });
    await client.runs.wait(null, 'chat', { input: chatInput('b'), on_completion: 'delete' });
    await eventually(async () => expect(await count('runs', 'temporary')).toBe(0));
    expect(await count('threads')).toBe(threads);
    expect(await count('checkpoints')).toBe(checkpoints);
    await client.runs.wait(null, 'chat', { input: chatInput('c'), on_completion: 'keep' });
    expect(await count('threads')).toBe(threads + 1);
    const [kept] = await client.threads.search({ limit: 1, select: ['values'] });
    expect(kept?.values).toMatchObject({ messages: [{ content: 'c' }, { content: 'echo c' }] });
  });
});

describe('an item', () => {
  const names = async () => (await client.store.namespaces({ prefix: ['gone'] })).map((one) => one.join('.'));

  it('that has expired is not found before the sweep, and can be created again', async () => {
    await using idle = await startTestServer({ executors: 'none' }); // sweeps every five minutes
    const at = createClient({ apiUrl: idle.url });
    await at.store.put(['gone'], 'k', { n: 1 }, { ttl: 5 });
    const swept = `name = 'expire items' and next_at > now()`;
    await eventually(async () => expect(await count('periodic_tasks', swept, idle)).toBe(1));
    await idle.database.script(`update store_items set expires_at = now(), created_at = 'epoch'`);
    expect(await at.store.get(['gone'], 'k')).toBeNull();
    expect(await at.store.search([])).toEqual([]);
    expect(await at.store.namespaces()).toEqual([]);
    expect(await count('store_items', 'true', idle)).toBe(1);
    await at.store.put(['gone'], 'k', { n: 2 });
    const item = await at.store.get(['gone'], 'k');
    expect(item?.value).toEqual({ n: 2 });
    expect(Date.parse(item?.created_at ?? '')).toBeGreaterThan(Date.now() - minuteMs);
  });

  it('is not found at once after it expires, and is deleted later', async () => {
    await client.store.put(['gone', 'a'], 'over', { n: 1 }, { ttl: 5 });
    await client.store.put(['gone', 'b'], 'stays', { n: 2 }, { ttl: null });
    expect(await names()).toEqual(['gone.a', 'gone.b']);
    await ageItem('over', 10);
    expect(await client.store.get(['gone', 'a'], 'over')).toBeNull();
    expect((await client.store.search(['gone'])).map(({ key }) => key)).toEqual(['stays']);
    expect(await names()).toEqual(['gone.b']);
    await eventually(async () => expect(await count('store_items', `key = 'over'`)).toBe(0));
  });

  it('is kept longer when it is read, unless refresh is off', async () => {
    await client.store.put(['r'], 'read', { n: 1 }, { ttl: 100 });
    const left = async (): Promise<number> => {
      const text = `select extract(epoch from expires_at - now())::float8 / 60 as minutes from store_items where key = 'read'`;
      return (await server.database.query<{ minutes: number }>({ name: 'left', text }, []))[0]?.minutes ?? 0;
    };
    await ageItem('read', 50);
    await client.store.get(['r'], 'read', { refreshTtl: false });
    await client.store.search(['r'], { refresh_ttl: false });
    expect(await left()).toBeLessThan(51);
    await client.store.get(['r'], 'read');
    expect(await left()).toBeGreaterThan(99);
    await ageItem('read', 5);
    await client.store.get(['r'], 'read'); // less than a tenth of the ttl has passed: no write
    expect(await left()).toBeLessThan(96);
    await ageItem('read', 50);
    await client.store.search(['r'], {});
    expect(await left()).toBeGreaterThan(99);
  });
});
