// Pages of threads by cursor.
import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import type { Thread } from '@svc/contract';
import { createClient } from '@svc/sdk';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';

const server = fixture(() => startTestServer());

beforeAll(async () => {
  await createThreads();
});

let group: string;

const create = async (): Promise<string> => {
  const { body } = await server.call('POST', '/threads', { metadata: { group } });
  return (body as Thread).thread_id;
};

/** Creates thirteen threads, and makes them the group that the searches below find. */
const createThreads = async (): Promise<void> => {
  group = randomUUID();
  // Threads that are created at once have the same time of creation.
  await Promise.all(Array.from({ length: 11 }, create));
  const [first, second] = await Promise.all([create(), create()]);
  await server.call('POST', `/threads/${first}/runs/wait`, { assistant_id: 'probe', input: { do: 'throw' } });
  await server.call('PATCH', `/threads/${second}`, { metadata: { later: true } });
};

interface Page {
  ids: string[];
  next: string | null;
  total: string | null;
  cursor: string | null;
}

const page = async (request: object): Promise<Page> => {
  const { status, headers, body } = await server.call('POST', '/threads/search', {
    metadata: { group },
    ...request,
  });
  expect(status).toBe(200);
  return {
    ids: (body as Thread[]).map(({ thread_id }) => thread_id),
    next: headers.get('x-pagination-next'),
    total: headers.get('x-pagination-total'),
    cursor: headers.get('x-pagination-cursor'),
  };
};

/** The ids of all pages, the first of which has no cursor. `between`: called after each page. */
const readAll = async (request: object, between: (page: Page) => unknown = () => undefined) => {
  const ids: string[] = [];
  for (let cursor: string | undefined; ;) {
    const found = await page({ ...request, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...found.ids);
    if (found.cursor === null) return ids;
    cursor = found.cursor;
    await between(found);
  }
};

describe('pages of threads by cursor', () => {
  it.each(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'])(
    'are in the order of one long page: by %s',
    async (sort_by) => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('asc', 'desc'),
          fc.integer({ min: 1, max: 15 }),
          async (sort_order, limit) => {
            const order = { sort_by, sort_order };
            const { ids } = await page({ ...order, limit: 100 });
            expect(ids).toHaveLength(13);
            expect(await readAll({ ...order, limit })).toEqual(ids);
          },
        ),
        { numRuns: 8 },
      );
    },
  );

  it('skip and repeat nothing when threads are created and deleted meanwhile', async () => {
    await createThreads();
    const { ids } = await page({ limit: 100 });
    const read = await readAll({ limit: 4 }, async ({ ids: shown }) => {
      await create();
      await server.call('DELETE', `/threads/${shown.at(-1)}`);
    });
    expect(read).toEqual(ids);
  });

  it('continue a search by values', async () => {
    await createThreads();
    const { body } = await server.call('POST', '/threads', { metadata: { group } });
    const { thread_id } = body as Thread;
    await server.call('POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id: 'probe',
      input: { do: 'write', ms: 1 },
    });
    const search = { values: { out: 'wrote' }, limit: 1 };
    expect(await page(search)).toEqual({ ids: [thread_id], next: null, total: '1', cursor: null });
    const { cursor } = await page({ limit: 1 });
    const older = await page({ values: {}, limit: 100, cursor });
    expect(older.ids).toHaveLength(13);
    expect((await page({ ...search, cursor })).ids).toEqual([]);
    const newest = await page({ limit: 13, sort_order: 'asc' });
    expect((await page({ ...search, sort_order: 'asc', cursor: newest.cursor })).ids).toEqual([thread_id]);
  });

  it('have no total and no offset, which the first page has', async () => {
    await createThreads();
    const first = await page({ limit: 5 });
    expect(first).toMatchObject({ next: '5', total: '13' });
    const second = await page({ limit: 5, cursor: first.cursor });
    expect(second).toMatchObject({ next: null, total: null, cursor: expect.any(String) as string });
  });

  it('return only fields that are asked for', async () => {
    const { cursor } = await page({ limit: 5, select: ['thread_id'] });
    const { body } = await server.call('POST', '/threads/search', {
      metadata: { group },
      limit: 1,
      cursor,
      select: ['status'],
    });
    expect(body).toEqual([{ status: expect.any(String) as string }]);
  });
});

describe('a cursor', () => {
  const refusal = async (request: object) => {
    const { status, body } = await server.call('POST', '/threads/search', request);
    expect(status).toBe(422);
    return JSON.stringify(body);
  };

  it('that this server has not returned is refused', async () => {
    const texts = fc.oneof(
      fc.string({ minLength: 1, maxLength: 200 }),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc
        .record({ v: fc.constantFrom(1, 2), t: fc.string(), id: fc.oneof(fc.string(), fc.uuid()) })
        .map((content) => Buffer.from(JSON.stringify(content)).toString('base64url')),
    );
    await fc.assert(
      fc.asyncProperty(
        // A longer one is refused for its length.
        texts.filter((text) => text !== '' && text.length <= 1_024),
        async (cursor) => {
          expect(await refusal({ cursor })).toContain('cursor must be one that this server has returned');
        },
      ),
      { numRuns: 40 },
    );
  });

  it('of another order is refused', async () => {
    const { cursor } = await page({ limit: 1, sort_by: 'updated_at' });
    expect(await refusal({ cursor, sort_by: 'created_at' })).toContain('another sort_by or sort_order');
    expect(await refusal({ cursor, sort_by: 'updated_at', sort_order: 'asc' })).toContain(
      'another sort_by or sort_order',
    );
  });

  it('is refused together with an offset', async () => {
    const { cursor } = await page({ limit: 1 });
    expect(await refusal({ cursor, offset: 1 })).toContain('offset cannot be combined with cursor');
  });
});

// `extract` of a search of threads, sent by the stock client.

const stock = fixture(() => new Client({ apiUrl: server.url }));
const search = (body: object) => server.call('POST', '/threads/search', body);

/** A thread with one answered message. */
const answered = async (text: string, metadata: Record<string, unknown> = {}): Promise<string> => {
  const { thread_id } = await stock.threads.create({ metadata });
  await stock.runs.wait(thread_id, 'chat', { input: chatInput(text) });
  return thread_id;
};

describe('a search of threads extracts', () => {
  it('parts of the newest values, of metadata and of interrupts', async () => {
    const group = randomUUID();
    const chat = await answered('good morning', { group, customer: { name: 'Ada' } });
    const { thread_id } = await stock.threads.create({ metadata: { group } });
    await stock.runs.wait(thread_id, 'approval', { input: {} });

    const found = await stock.threads.search({
      metadata: { group },
      extract: {
        first: 'values.messages[0].content',
        last: 'values.messages[-1].type',
        log: 'values.log',
        name: 'metadata.customer.name',
        interrupts: 'interrupts',
      },
    });

    const { interrupts } = await stock.threads.get(thread_id);
    expect(found.map((thread) => [thread.thread_id, thread.extracted])).toEqual([
      [thread_id, { first: null, last: null, log: ['written'], name: null, interrupts }],
      [chat, { first: 'good morning', last: 'ai', log: null, name: 'Ada', interrupts: {} }],
    ]);
  });

  it('without the fields that it reads, when they are not selected', async () => {
    const group = randomUUID();
    const thread_id = await answered('hello', { group });
    const extract = { whole: 'values', group: 'metadata.group' };
    const { body } = await search({ metadata: { group }, select: ['thread_id'], extract });
    const { values } = await stock.threads.get(thread_id);
    expect(body).toEqual([{ thread_id, extracted: { whole: values, group } }]);
  });

  it('beside the values', async () => {
    const group = randomUUID();
    await answered('hello', { group });
    const extract = { text: 'values.messages[0].content' };
    const { body } = await search({ metadata: { group }, select: ['values'], extract });
    expect(body).toMatchObject([
      { values: { messages: [{ content: 'hello' }, {}] }, extracted: { text: 'hello' } },
    ]);
  });

  it('nothing from a thread without a state', async () => {
    const group = randomUUID();
    await stock.threads.create({ metadata: { group } });
    const { body } = await search({ metadata: { group }, extract: { text: 'values.messages[0]' } });
    expect(body).toMatchObject([{ extracted: { text: null } }]);
  });
});

describe('extract', () => {
  it.each([
    ['a path of another field', { a: 'thread_id' }, ['body', 'extract', 'a']],
    ['a text that is no path', { a: 'values.messages[last]' }, ['body', 'extract', 'a']],
    ['a path that is no text', { a: 1 }, ['body', 'extract', 'a']],
    [
      'more than ten paths',
      Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`a${at}`, 'values'])),
      ['body', 'extract'],
    ],
  ])('with %s is refused', async (_, extract, loc) => {
    expect(await search({ extract })).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
  });

  it('returns at most a megabyte of a thread', async () => {
    const thread_id = await answered('x'.repeat(200_000));
    const paths = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, 'values.messages[0].content']));
    const found = (count: number) =>
      search({ ids: [thread_id], select: ['thread_id'], extract: paths(count) });
    expect(await found(5)).toMatchObject({ status: 200 });
    expect(await found(6)).toMatchObject({ status: 413, body: { code: 'too_large' } });
  });
});

// `select` of searches, a thread, a state and a history: parts that are not selected are not read, and nothing else is returned.

const client = fixture(() => createClient({ apiUrl: server.url }));

let threadId: string;

beforeAll(async () => {
  threadId = (await client.threads.create({ metadata: { customer: 'acme' } })).thread_id;
  await client.runs.wait(threadId, 'chat', { input: { messages: [{ role: 'user', content: 'hello' }] } });
});

describe.each([
  [
    'assistants',
    '/assistants/search',
    ['assistant_id', 'graph_id', 'name', 'config', 'context', 'updated_at'],
  ],
  ['threads', '/threads/search', ['thread_id', 'config', 'context', 'values', 'interrupts', 'updated_at']],
  ['crons', '/crons/search', ['cron_id', 'payload', 'user_id', 'metadata', 'now', 'enabled']],
  ['runs', '/runs/search', ['run_id', 'thread_id', 'kwargs', 'cancel_reason']],
])('a search of %s', (noun, path, fields) => {
  it.each(fields)('returns %s alone when only it is selected', async (field) => {
    if (noun === 'crons')
      await server.call('POST', '/runs/crons', { assistant_id: 'chat', schedule: '0 0 1 1 *' });
    const { body } = await server.call('POST', path.replace('/crons', '/runs/crons'), { select: [field] });
    const [first] = body as object[];
    expect(first).toBeDefined();
    // These are absent where they have no value.
    expect(Object.keys(first ?? {})).toEqual(
      ['context', 'cancel_reason'].includes(field) && noun !== 'assistants' ? [] : [field],
    );
  });
});

it.each(['run_id', 'status', 'kwargs'])(
  'a list of runs returns %s alone when only it is selected',
  async (field) => {
    const { body } = await server.call('GET', `/threads/${threadId}/runs?select=${field}`);
    expect((body as object[]).map((run) => Object.keys(run))).toEqual([[field]]);
  },
);

describe('a thread', () => {
  it('has the selected fields only', async () => {
    const thread = await client.threads.get(threadId, { select: ['thread_id', 'metadata', 'status'] });
    expect(thread).toMatchObject({ thread_id: threadId, metadata: { customer: 'acme' }, status: 'idle' });
    expect(Object.keys(thread).toSorted()).toEqual(['metadata', 'status', 'thread_id']);
  });

  it('has its values when they are selected, and by default', async () => {
    const { values } = await client.threads.get(threadId);
    expect(values).toHaveProperty('messages');
    expect(await client.threads.get(threadId, { select: ['values'] })).toEqual({ values });
  });

  it('has no other fields', async () => {
    const { status, body } = await server.call('GET', `/threads/${threadId}?select=secret`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'invalid' });
  });
});

describe('a state', () => {
  it('has single metadata', async () => {
    const whole = await client.threads.getState(threadId);
    const state = await client.threads.getState(threadId, {
      select: ['metadata.step', 'metadata.source', 'metadata.nothing'],
    });
    const { step, source } = whole.metadata;
    expect(state).toEqual({ metadata: { step, source } });
  });

  it('has the names of its nodes instead of what they have written, on request', async () => {
    const history = await client.threads.getHistory(threadId, {
      select: ['nodes', 'metadata.step', 'metadata.writes'],
    });
    for (const { nodes, metadata } of history)
      expect(nodes).toEqual(Object.keys((metadata['writes'] as object | null) ?? {}));
    expect(history.map(({ nodes }) => nodes)).toContainEqual(['__start__']);
    expect(history[0]?.nodes).toHaveLength(1);
    expect(await client.threads.getState(threadId)).not.toHaveProperty('nodes');
  });

  it('has all metadata when they are selected too', async () => {
    const { metadata } = await client.threads.getState(threadId);
    expect(await client.threads.getState(threadId, { select: ['metadata.step', 'metadata'] })).toEqual({
      metadata,
    });
  });
});

it('the state of a thread without checkpoints has no nodes, but the field', async () => {
  const { thread_id } = await client.threads.create();
  expect(await client.threads.getState(thread_id, { select: ['nodes', 'metadata.step'] })).toEqual({
    metadata: {},
    nodes: [],
  });
});
