import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AssistantService } from '../../src/deployment/assistants/assistant-service.ts';
import { defaultAssistantId } from '../../src/deployment/assistants/default-assistant.ts';
import type { AssistantRow } from '../../src/storage/assistants.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { newRun } from '../runs/run-rows.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { Filter } from '../../src/access/filter.ts';
import { everyRow } from '../../src/storage/row-filter.ts';

const graphs = new Map<string, { description?: string }>([
  ['one', {}],
  ['two', { description: 'the second' }],
]);
const firstPage = { limit: 10, offset: 0, sort_by: 'name', sort_order: 'asc' } as const;

let database: TestDatabase;
let storage: Storage;
let assistants: AssistantService;

beforeAll(async () => {
  database = await testDatabase();
  storage = createStorage(database);
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.script('truncate assistants, threads, runs cascade');
  assistants = new AssistantService(storage, graphs);
});

const anybodys = { creatable: Filter.everything, readable: everyRow };

const make = (fields: Partial<AssistantRow> = {}): Promise<AssistantRow> =>
  assistants.create({ graph_id: 'one', if_exists: 'raise', ...fields }, anybodys);

const startRun = (assistant_id: string) =>
  storage.runs.create({ ...newRun(assistant_id, crypto.randomUUID()), keyed: false });

const parsed = (page: { rows: string[] }): AssistantRow[] =>
  page.rows.map((text) => JSON.parse(text) as AssistantRow);

const names = async (name: string): Promise<string[]> =>
  parsed((await assistants.search({ name }, firstPage, everyRow)).page).map((row) => row.name);

const idOfVersions = (page: { rows: string[] }): number[] => parsed(page).map(({ version }) => version);

describe('a new assistant', () => {
  it('is version 1, with defaults for what was not said', async () => {
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

  it('is of a graph that is there', async () => {
    await expect(make({ graph_id: 'three' })).rejects.toMatchObject({ code: 'not_found' });
    const { assistant_id } = await make();
    await expect(assistants.update(assistant_id, { graph_id: 'three' }, everyRow)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('conflicts with one of the same id, or gives way to it unchanged', async () => {
    const { assistant_id } = await make({ name: 'first' });
    await expect(make({ assistant_id })).rejects.toMatchObject({ code: 'conflict' });
    const kept = await assistants.create(
      {
        graph_id: 'two',
        assistant_id,
        name: 'second',
        if_exists: 'do_nothing',
      },
      anybodys,
    );
    expect(kept).toMatchObject({ name: 'first', graph_id: 'one', version: 1 });
  });
});

describe('versions', () => {
  it('come with every update, even an empty one, and merge metadata key by key', async () => {
    const { assistant_id } = await make({ metadata: { a: { deep: 1 }, b: 2 }, context: { kept: true } });
    const updated = await assistants.update(assistant_id, { metadata: { a: { other: 1 }, c: 3 } }, everyRow);
    expect(updated).toMatchObject({ version: 2, context: { kept: true } });
    expect(updated.metadata).toEqual({ a: { other: 1 }, b: 2, c: 3 });
    expect(await assistants.update(assistant_id, {}, everyRow)).toMatchObject({ version: 3, name: 'one' });
  });

  it('are numbered after the highest, not after the current one', async () => {
    const { assistant_id } = await make({ name: 'first' });
    await assistants.update(assistant_id, { name: 'second' }, everyRow);
    expect(await assistants.setLatest(assistant_id, 1, everyRow)).toMatchObject({
      version: 1,
      name: 'first',
    });
    expect(await assistants.update(assistant_id, { name: 'third' }, everyRow)).toMatchObject({ version: 3 });
  });

  it('are all made when updates come at once', async () => {
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

  it('that are not there are not found', async () => {
    const { assistant_id } = await make();
    await expect(assistants.setLatest(assistant_id, 9, everyRow)).rejects.toMatchObject({
      code: 'not_found',
    });
    const nobody = crypto.randomUUID();
    await expect(assistants.update(nobody, {}, everyRow)).rejects.toMatchObject({ code: 'not_found' });
    await expect(assistants.versions(nobody, { limit: 1, offset: 0 }, everyRow)).rejects.toMatchObject({
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
  ])('takes %s in a name literally, in any case', async (part, expected) => {
    for (const name of ['100% sure', '100 sure', 'a_b', 'axb', String.raw`c\d`]) await make({ name });
    expect((await names(part)).toSorted()).toEqual(expected.toSorted());
  });

  it('filters, sorts, pages and counts all that match', async () => {
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
  it('takes the versions along', async () => {
    const { assistant_id } = await make();
    await assistants.delete(assistant_id, everyRow, undefined);
    await expect(assistants.get(assistant_id, everyRow)).rejects.toMatchObject({ code: 'not_found' });
    expect(
      (await storage.assistants.versions(assistant_id, { limit: 10, offset: 0 }, everyRow)).rows,
    ).toEqual([]);
  });

  it('is refused while runs are in flight', async () => {
    const { assistant_id } = await make();
    await startRun(assistant_id);
    await expect(assistants.delete(assistant_id, everyRow, everyRow)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await assistants.get(assistant_id, everyRow)).toMatchObject({ assistant_id });
  });

  it('takes the threads along when asked to', async () => {
    const { assistant_id } = await make();
    const thread_id = crypto.randomUUID();
    await storage.threads.create({ thread_id, metadata: { assistant_id }, config: {} });
    await assistants.delete(assistant_id, everyRow, everyRow);
    expect(await storage.threads.find(thread_id, everyRow)).toBeUndefined();
  });

  it('of a default assistant is refused, whatever its metadata became', async () => {
    await assistants.syncDefaults();
    await assistants.update('one', { metadata: { created_by: 'somebody' } }, everyRow);
    await expect(assistants.delete('one', everyRow, undefined)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('of a copy of a default assistant is not', async () => {
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

  it('stay as they are when servers start again, or at once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => new AssistantService(storage, graphs).syncDefaults()));
    const before = await assistants.search({}, firstPage, everyRow);
    await assistants.syncDefaults();
    expect(await assistants.search({}, firstPage, everyRow)).toEqual(before);
    expect(before.total).toBe(2);
  });

  it('follow the description in the configuration, in one version for all servers', async () => {
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

  it('go with their graph, and nothing that a client made goes with them', async () => {
    await assistants.syncDefaults();
    const { metadata } = await assistants.get('two', everyRow);
    const copy = await make({ graph_id: 'two', metadata });
    await new AssistantService(storage, new Map([['one', {}]])).syncDefaults();
    const { page } = await assistants.search({}, firstPage, everyRow);
    const left = parsed(page).map((row) => row.assistant_id);
    expect(left.toSorted()).toEqual([defaultAssistantId('one'), copy.assistant_id].toSorted());
  });

  it('outlive their graph while runs of theirs are in flight', async () => {
    await assistants.syncDefaults();
    await startRun(defaultAssistantId('two'));
    await new AssistantService(storage, new Map([['one', {}]])).syncDefaults();
    expect(await assistants.get('two', everyRow)).toMatchObject({ graph_id: 'two' });
  });
});
