import { beforeEach, describe, expect, it } from 'vitest';
import { AssistantService } from '../../src/deployment/assistants/assistant-service.ts';
import { AssistantPruner } from '../../src/deployment/assistants/assistant-pruner.ts';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';
import type { AssistantRow } from '../../src/storage/deployment/assistants/assistant-rows.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { newRun } from '../runs/run-rows.ts';
import { testDatabase } from '../database.ts';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { fixture } from '../fixture.ts';

const graphs = new Map<string, { description?: string }>([
  ['one', {}],
  ['two', { description: 'the second' }],
]);
const firstPage = { limit: 10, offset: 0, sort_by: 'name', sort_order: 'asc' } as const;

const database = fixture(() => testDatabase());
const storage = fixture(() => createStorage(database));
let assistants: AssistantService;

beforeEach(async () => {
  await database.script('truncate assistants, threads, runs, workers cascade');
  assistants = new AssistantService(storage, graphs);
});

const unrestricted = { creatable: AccessFilter.everything, readable: everyRow };

const make = (fields: Partial<AssistantRow> = {}): Promise<AssistantRow> =>
  assistants.create({ graph_id: 'one', if_exists: 'raise', ...fields }, unrestricted);

const startRun = (assistant_id: string) =>
  storage.runs.create({ ...newRun(assistant_id, crypto.randomUUID()), keyed: false });

const worker_id = crypto.randomUUID();
const reportWorker = (executed: string[]) =>
  storage.workers.report({
    worker_id,
    name: 'host:7',
    slots: 1,
    running: 0,
    blocked_executors: 0,
    connections: 0,
    draining: false,
    graphs: executed,
    machine: null,
    process: '7 0',
  });

const parsed = (page: { rows: string[] }): AssistantRow[] =>
  page.rows.map((text) => JSON.parse(text) as AssistantRow);

const names = async (name: string): Promise<string[]> =>
  parsed((await assistants.search({ name }, firstPage, everyRow)).page).map((row) => row.name);

const idOfVersions = (page: { rows: string[] }): number[] => parsed(page).map(({ version }) => version);

describe('a new assistant', () => {
  it('is version 1, with defaults for omitted fields', async () => {
    const made = await make();
    expect(made).toMatchObject({
      name: 'one',
      description: null,
      config: {},
      context: {},
      metadata: {},
      version: 1,
    });
    const versions = await assistants.versions(made.assistant_id, { limit: 10, offset: 0 }, everyRow);
    expect(parsed(versions)).toMatchObject([{ assistant_id: made.assistant_id, version: 1, name: 'one' }]);
  });

  it('needs a graph that exists', async () => {
    await expect(make({ graph_id: 'three' })).rejects.toMatchObject({ code: 'not_found' });
    const { assistant_id } = await make();
    await expect(assistants.update(assistant_id, { graph_id: 'three' }, everyRow)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('conflicts with an assistant of the same id, or returns that one unchanged', async () => {
    const { assistant_id } = await make({ name: 'first' });
    await expect(make({ assistant_id })).rejects.toMatchObject({ code: 'conflict' });
    const kept = await assistants.create(
      {
        graph_id: 'two',
        assistant_id,
        name: 'second',
        if_exists: 'do_nothing',
      },
      unrestricted,
    );
    expect(kept).toMatchObject({ name: 'first', graph_id: 'one', version: 1 });
  });
});

describe('versions', () => {
  it('are created by every update, even an empty one, and merge metadata key by key', async () => {
    const { assistant_id } = await make({ metadata: { a: { deep: 1 }, b: 2 }, context: { kept: true } });
    const updated = await assistants.update(assistant_id, { metadata: { a: { other: 1 }, c: 3 } }, everyRow);
    expect(updated).toMatchObject({ version: 2, context: { kept: true } });
    expect(updated.metadata).toEqual({ a: { other: 1 }, b: 2, c: 3 });
    expect(await assistants.update(assistant_id, {}, everyRow)).toMatchObject({ version: 3, name: 'one' });
  });

  it('are numbered after the highest version, not after the current one', async () => {
    const { assistant_id } = await make({ name: 'first' });
    await assistants.update(assistant_id, { name: 'second' }, everyRow);
    expect(await assistants.setLatest(assistant_id, 1, everyRow)).toMatchObject({
      version: 1,
      name: 'first',
    });
    expect(await assistants.update(assistant_id, { name: 'third' }, everyRow)).toMatchObject({ version: 3 });
  });

  it('are all created by concurrent updates', async () => {
    const { assistant_id } = await make();
    const count = 8;
    const made = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        assistants.update(assistant_id, { metadata: { [`key${n}`]: n } }, everyRow),
      ),
    );
    expect(made.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_, n) => n + 2),
    );
    const now = await assistants.get(assistant_id, everyRow);
    expect(now.version).toBe(count + 1);
    expect(Object.keys(now.metadata)).toHaveLength(count);
  });

  it('are listed newest first, in pages, by metadata', async () => {
    const { assistant_id } = await make({ metadata: { stage: 'a' } });
    await assistants.update(assistant_id, {}, everyRow);
    await assistants.update(assistant_id, { metadata: { stage: 'b' } }, everyRow);
    const list = async (page: { limit: number; offset: number; metadata?: object }) =>
      idOfVersions(await assistants.versions(assistant_id, page, everyRow));
    expect(await list({ limit: 10, offset: 0 })).toEqual([3, 2, 1]);
    expect(await list({ limit: 1, offset: 1 })).toEqual([2]);
    expect(await list({ limit: 10, offset: 0, metadata: { stage: 'a' } })).toEqual([2, 1]);
  });

  it('of unknown assistants are not found', async () => {
    const { assistant_id } = await make();
    await expect(assistants.setLatest(assistant_id, 9, everyRow)).rejects.toMatchObject({
      code: 'not_found',
    });
    const unknownId = crypto.randomUUID();
    await expect(assistants.update(unknownId, {}, everyRow)).rejects.toMatchObject({ code: 'not_found' });
    await expect(assistants.versions(unknownId, { limit: 1, offset: 0 }, everyRow)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a search', () => {
  it.each([
    ['100%', ['100% sure']],
    ['a_b', ['a_b']],
    ['SURE', ['100% sure', '100 sure']],
    [String.raw`c\d`, [String.raw`c\d`]],
  ])('matches %s in a name literally and ignores case', async (part, expected) => {
    for (const name of ['100% sure', '100 sure', 'a_b', 'axb', String.raw`c\d`]) await make({ name });
    expect((await names(part)).toSorted()).toEqual(expected.toSorted());
  });

  it('filters, sorts, pages and returns the total', async () => {
    for (const name of ['c', 'a', 'b']) await make({ name, metadata: { team: 'red', n: { of: [1, 2] } } });
    await make({ graph_id: 'two', name: 'other' });
    const filter = { graph_id: 'one', metadata: { n: { of: [2] } } };
    const found = await assistants.search(filter, { ...firstPage, limit: 2 }, everyRow);
    expect(parsed(found.page).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(found.total).toBe(3);
    expect(await assistants.count({ metadata: { team: 'blue' } }, everyRow)).toBe(0);
  });
});

describe('a deletion', () => {
  it('deletes the versions too', async () => {
    const { assistant_id } = await make();
    await assistants.delete(assistant_id, everyRow, undefined);
    await expect(assistants.get(assistant_id, everyRow)).rejects.toMatchObject({ code: 'not_found' });
    expect(
      (await storage.assistants.versions(assistant_id, { limit: 10, offset: 0 }, everyRow)).rows,
    ).toEqual([]);
  });

  it('is rejected while runs are in flight', async () => {
    const { assistant_id } = await make();
    await startRun(assistant_id);
    await expect(assistants.delete(assistant_id, everyRow, everyRow)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await assistants.get(assistant_id, everyRow)).toMatchObject({ assistant_id });
  });

  it('deletes the threads too with delete_threads', async () => {
    const { assistant_id } = await make();
    const thread_id = crypto.randomUUID();
    await storage.threads.create({ thread_id, metadata: { assistant_id }, config: {} });
    await assistants.delete(assistant_id, everyRow, everyRow);
    expect(await storage.threads.find(thread_id, everyRow)).toBeUndefined();
  });

  it('of a default assistant is rejected, even after its metadata changed', async () => {
    await assistants.syncDefaults();
    await assistants.update('one', { metadata: { created_by: 'another user' } }, everyRow);
    await expect(assistants.delete('one', everyRow, undefined)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('of a copy of a default assistant is allowed', async () => {
    await assistants.syncDefaults();
    const { metadata } = await assistants.get('one', everyRow);
    const copy = await make({ metadata });
    await assistants.delete(copy.assistant_id, everyRow, undefined);
    expect(await assistants.count({}, everyRow)).toBe(graphs.size);
  });
});

describe('default assistants', () => {
  it('are found by their graph', async () => {
    await assistants.syncDefaults();
    expect(await assistants.get('two', everyRow)).toMatchObject({
      assistant_id: defaultAssistantId('two'),
      graph_id: 'two',
      name: 'two',
      description: 'the second',
      metadata: { created_by: 'system' },
      version: 1,
    });
  });

  it('are unchanged when servers start again, or concurrently', async () => {
    await Promise.all(Array.from({ length: 4 }, () => new AssistantService(storage, graphs).syncDefaults()));
    const before = await assistants.search({}, firstPage, everyRow);
    await assistants.syncDefaults();
    expect(await assistants.search({}, firstPage, everyRow)).toEqual(before);
    expect(before.total).toBe(2);
  });

  it('follow the description in the configuration, with one new version for all servers', async () => {
    await assistants.syncDefaults();
    const described = new Map([
      ['one', { description: 'now described' }],
      ['two', {}],
    ]);
    await Promise.all(
      Array.from({ length: 4 }, () => new AssistantService(storage, described).syncDefaults()),
    );
    expect(await assistants.get('one', everyRow)).toMatchObject({ description: 'now described', version: 2 });
    expect(await assistants.get('two', everyRow)).toMatchObject({ description: null, version: 2 });
  });

  const withoutTwo = () => new AssistantService(storage, new Map([['one', {}]]));
  const ids = async (service: AssistantService): Promise<string[]> =>
    parsed((await service.search({}, firstPage, everyRow)).page).map((row) => row.assistant_id);

  it('are kept when a server starts without their graph, with their crons and runs', async () => {
    await assistants.syncDefaults();
    const assistant_id = defaultAssistantId('two');
    const run = newRun(assistant_id, crypto.randomUUID());
    await storage.runs.create(run);
    const cron_id = crypto.randomUUID();
    await database.script(`insert into crons (cron_id, assistant_id, schedule, payload)
      values ('${cron_id}', '${assistant_id}', '0 0 1 1 *', '{}')`);
    await database.script(`update runs set status = 'success'`);
    await withoutTwo().syncDefaults();
    expect(await withoutTwo().get('two', everyRow)).toMatchObject({ assistant_id, graph_id: 'two' });
    expect(await storage.crons.find(cron_id, everyRow)).toMatchObject({ assistant_id, enabled: true });
    expect(await storage.runs.find(run.run_id, undefined, everyRow)).toMatchObject({ assistant_id });
  });

  it('are not listed while no node executes their graph, and are listed when one does again', async () => {
    await assistants.syncDefaults();
    const { metadata } = await assistants.get('two', everyRow);
    const copy = await make({ graph_id: 'two', metadata });
    const listed = [defaultAssistantId('one'), copy.assistant_id];
    expect(new Set(await ids(withoutTwo()))).toEqual(new Set(listed));
    expect(await withoutTwo().count({ graph_id: 'two' }, everyRow)).toBe(1);
    await reportWorker(['two']);
    expect(new Set(await ids(withoutTwo()))).toEqual(new Set([...listed, defaultAssistantId('two')]));
    await database.script(`update workers set seen_at = now() - interval '11 minutes'`);
    expect(new Set(await ids(withoutTwo()))).toEqual(new Set(listed));
    expect(await ids(assistants)).toHaveLength(3);
  });

  it('cannot be deleted, and copies of them can', async () => {
    await assistants.syncDefaults();
    const copy = await make({ graph_id: 'two', metadata: { created_by: 'system' } });
    await withoutTwo().syncDefaults();
    await expect(assistants.delete('two', everyRow, undefined)).rejects.toMatchObject({ code: 'conflict' });
    await assistants.delete(copy.assistant_id, everyRow, undefined);
  });
});

describe('the deletion of default assistants whose graph no worker executes', () => {
  it('first lists what it will delete, and deletes only that', async () => {
    await assistants.syncDefaults();
    const assistant_id = defaultAssistantId('two');
    await startRun(assistant_id);
    const pruner = new AssistantPruner(storage, ['one']);
    const row = { assistant_id, graph_id: 'two', crons: 0, runs: 0, in_flight: 1 };
    expect(await pruner.preview()).toEqual([row]);
    expect(await pruner.preview(['one'])).toEqual([]);
    expect(await pruner.prune(assistant_id)).toBe('in_flight');
    await database.script(`update runs set status = 'success'`);
    expect(await pruner.preview(['two'])).toEqual([{ ...row, runs: 1, in_flight: 0 }]);
    expect(await pruner.prune(assistant_id)).toBe('deleted');
    expect(await pruner.prune(assistant_id)).toBe('missing');
    await expect(assistants.get('two', everyRow)).rejects.toMatchObject({ code: 'not_found' });
    expect(await assistants.get('one', everyRow)).toMatchObject({ graph_id: 'one' });
  });

  it('is rejected while a worker executes the graph, and for an assistant that only changed its graph', async () => {
    await assistants.syncDefaults();
    await reportWorker(['one', 'two']);
    const pruner = new AssistantPruner(storage, []);
    expect(await pruner.hasWorkers()).toBe(true);
    expect(await pruner.preview()).toEqual([]);
    expect(await pruner.prune(defaultAssistantId('two'))).toBe('served');
    await reportWorker(['two']);
    await assistants.update('two', { graph_id: 'one' }, everyRow);
    expect((await pruner.preview()).map((row) => row.assistant_id)).toEqual([defaultAssistantId('one')]);
  });

  it('is rejected by the API on a node without the graph', async () => {
    await assistants.syncDefaults();
    const other = new AssistantService(storage, new Map([['one', {}]]));
    await expect(other.delete('two', everyRow, undefined)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('the assistants of one user', () => {
  const owner = 'svc_auth_user_id';
  const fill = (user: string, count: number): Promise<unknown> =>
    database.script(`insert into assistants (assistant_id, graph_id, name, metadata)
      select gen_random_uuid(), 'one', 'one', '{"${owner}": "${user}"}' from generate_series(1, ${count})`);
  const makeFor = (user: string, fields: object = {}) => make({ metadata: { [owner]: user }, ...fields });
  const refused = {
    code: 'conflict',
    message: 'You have 1000 assistants, which is the limit for one user. Delete some first',
  };

  it('are at most 1,000, also when they are created at the same time', async () => {
    await fill('ann', 999);
    await fill('ann-marie', 1_000);
    const made = await Promise.allSettled(['a', 'b', 'c'].map((name) => makeFor('ann', { name })));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const each of made) if (each.status === 'rejected') expect(each.reason).toMatchObject(refused);
    await makeFor('ben');
    await make();
  });

  it('that exist are returned at the limit, and a deletion makes room', async () => {
    const { assistant_id } = await makeFor('ann');
    const again = {
      graph_id: 'one',
      assistant_id,
      metadata: { [owner]: 'ann' },
      if_exists: 'do_nothing',
    } as const;
    await fill('ann', 999);
    await expect(makeFor('ann')).rejects.toMatchObject(refused);
    expect(await assistants.create(again, unrestricted)).toMatchObject({ assistant_id });
    await assistants.delete(assistant_id, everyRow, undefined);
    expect(await assistants.create(again, unrestricted)).toMatchObject({ assistant_id });
  });
});

describe('the versions of one assistant', () => {
  it('are at most 10,000', async () => {
    const { assistant_id } = await make();
    await database.script(`insert into assistant_versions (assistant_id, version, graph_id, name, config, context, metadata)
      values ('${assistant_id}', 9999, 'one', 'one', '{}', '{}', '{}')`);
    const { version } = await assistants.update(assistant_id, { name: 'the last' }, everyRow);
    expect(version).toBe(10_000);
    await expect(assistants.update(assistant_id, { name: 'more' }, everyRow)).rejects.toMatchObject({
      code: 'conflict',
      message: `Assistant ${assistant_id} has 10000 versions, which is the limit. Create another assistant`,
    });
  });
});
