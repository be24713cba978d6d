// Responses are limited in bytes: a page ends early with a link to the next one, and only selected fields are read.
import { randomUUID } from 'node:crypto';
import { createClient, type StateValue, type StateValuePage } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { fixture } from '../fixture.ts';
import { startPlatform } from '../platform/platform-server.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { testLongState, threadWithOut } from '../threads/long-state.ts';

const server = fixture(() => startTestServer({ settings: { answerBytesMax: 262_144 } }));

type Answer = Awaited<ReturnType<TestServer['call']>>;

type Row = Record<string, unknown>;

const ok = async (answer: Promise<Answer>): Promise<Answer> => {
  const got = await answer;
  expect(got.status, JSON.stringify(got.body)?.slice(0, 500)).toBe(200);
  return got;
};

const newThread = async (more: object = {}): Promise<string> =>
  ((await ok(server.call('POST', '/threads', more))).body as { thread_id: string }).thread_id;

const large = (at: number): string => `${at} ${'x'.repeat(100_000)}`;

/** Reads all rows, page by page, following the headers; no page may exceed the limit, except with a single row. */
const walk = async (
  read: (offset: number) => Promise<Answer>,
  rowsOf = (body: unknown) => body as Row[],
): Promise<{ rows: Row[]; pages: number }> => {
  const rows: Row[] = [];
  let pages = 0;
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const { body, headers } = await ok(read(offset));
    const page = rowsOf(body);
    pages++;
    expect(page.length).toBeGreaterThan(0);
    const text = JSON.stringify(body);
    if (page.length > 1) expect(text.length).toBeLessThan(262_144 + 10_000);
    rows.push(...page);
    const next = headers.get('x-pagination-next');
    expect(headers.get('x-pagination-limited-by') === 'bytes' ? next : null).toBe(
      headers.get('x-pagination-limited-by') === 'bytes' ? String(offset + page.length) : null,
    );
    offset = next === null ? undefined : Number(next);
  }
  return { rows, pages };
};

describe('runs of a thread', () => {
  let thread_id: string;
  beforeAll(async () => {
    thread_id = await newThread();
    for (let at = 0; at < 12; at++) {
      const input = { messages: [{ role: 'user', content: large(at) }] };
      const body = { assistant_id: 'chat', input, metadata: { at }, after_seconds: 3_600 };
      await ok(server.call('POST', `/threads/${thread_id}/runs`, body));
    }
  });

  it('are returned completely in pages that end early', async () => {
    const list = (offset: number) =>
      server.call('GET', `/threads/${thread_id}/runs?limit=1000&offset=${offset}`);
    const { rows, pages } = await walk(list);
    expect(pages).toBe(6);
    expect(rows.map(({ metadata }) => (metadata as { at: number }).at)).toEqual(
      Array.from({ length: 12 }, (_, at) => 11 - at),
    );
    expect(rows[0]).toMatchObject({
      status: 'pending',
      kwargs: { input: { messages: [{ content: large(11) }] } },
      metadata: { at: 11 },
    });
    expect(Object.keys(rows[0] ?? {})).not.toContain('lost_attempts');
  });

  it('are returned at once when only short fields are selected', async () => {
    const path = `/threads/${thread_id}/runs?limit=1000&status=pending&select=run_id&select=metadata`;
    const { rows, pages } = await walk((offset) => server.call('GET', `${path}&offset=${offset}`));
    expect([rows.length, pages]).toEqual([12, 1]);
    expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual(['metadata', 'run_id']);
  });

  it('return the next offset when there is a next page, and only then', async () => {
    const page = await ok(server.call('GET', `/threads/${thread_id}/runs?limit=1`));
    expect([page.headers.get('x-pagination-next'), page.headers.get('x-pagination-limited-by')]).toEqual([
      '1',
      null,
    ]);
    const last = await ok(server.call('GET', `/threads/${thread_id}/runs?limit=1&offset=11`));
    expect(last.headers.get('x-pagination-next')).toBeNull();
    const none = await ok(server.call('GET', `/threads/${thread_id}/runs?offset=12`));
    expect([none.body, none.headers.get('x-pagination-next')]).toEqual([[], null]);
  });
});

describe('threads with large values', () => {
  const count = 8;
  let ids: string[];
  beforeAll(async () => {
    ids = [];
    for (let at = 0; at < count; at++) {
      const thread_id = await newThread({ metadata: { of: 'large', at, graph_id: 'chat' } });
      const values = { messages: [{ role: 'user', content: large(at), id: `m${at}` }] };
      await ok(server.call('POST', `/threads/${thread_id}/state`, { values, as_node: 'answer' }));
      ids.push(thread_id);
    }
  });
  const search = (more: object) => (offset: number) =>
    server.call('POST', '/threads/search', {
      metadata: { of: 'large' },
      sort_by: 'created_at',
      sort_order: 'asc',
      limit: 1_000,
      offset,
      ...more,
    });

  it('are returned completely in pages that end early', async () => {
    const { rows, pages } = await walk(search({ select: ['thread_id', 'values'] }));
    expect(rows.map((row) => row['thread_id'])).toEqual(ids);
    expect(rows.at(-1)).toMatchObject({ values: { messages: [{ content: large(count - 1) }] } });
    expect(pages).toBe(4);
  });

  it('are returned at once when their values are not selected', async () => {
    const { rows, pages } = await walk(search({ select: ['thread_id', 'metadata'] }));
    expect([rows.length, pages]).toEqual([count, 1]);
    expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual(['metadata', 'thread_id']);
  });

  it('are found and counted by values of any size', async () => {
    const values = { messages: [{ id: 'm5' }] };
    const found = await ok(search({ values, select: ['thread_id'] })(0));
    expect([found.body, found.headers.get('x-pagination-total')]).toEqual([[{ thread_id: ids[5] }], '1']);
    const counted = await ok(server.call('POST', '/threads/count', { metadata: { of: 'large' }, values }));
    expect(counted.body).toBe(1);
  });
});

describe('the history of a thread', () => {
  const steps = 6;
  let thread_id: string;
  beforeAll(async () => {
    thread_id = await newThread({ metadata: { graph_id: 'chat' } });
    for (let at = 0; at < steps; at++) {
      const values = { messages: [{ role: 'user', content: large(at) }] };
      await ok(server.call('POST', `/threads/${thread_id}/state`, { values, as_node: 'answer' }));
    }
  });
  const messages = (row: Row | undefined): unknown[] =>
    (row?.['values'] as { messages?: unknown[] } | undefined)?.messages ?? [];

  it('is returned in pages with a cursor to the next one', async () => {
    const rows: Row[] = [];
    let pages = 0;
    for (let before: string | null = ''; before !== null; pages++) {
      const query = before === '' ? '' : `&before=${before}`;
      const page = await ok(
        server.call(
          'GET',
          `/threads/${thread_id}/history?limit=1000&select=values&select=checkpoint_id${query}`,
        ),
      );
      const list = page.body as Row[];
      expect(list.length).toBeGreaterThan(0);
      if (list.length > 1) expect(JSON.stringify(list).length).toBeLessThan(272_144);
      rows.push(...list);
      before = page.headers.get('x-pagination-next');
      if (before !== null) expect(page.headers.get('x-pagination-limited-by')).toBe('bytes');
    }
    expect(rows.map((row) => messages(row).length)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(pages).toBeGreaterThan(3);
  });

  it('is returned at once when only short fields are selected', async () => {
    const page = await ok(
      server.call('POST', `/threads/${thread_id}/history`, {
        limit: 1_000,
        select: ['next', 'checkpoint_id'],
      }),
    );
    expect(page.headers.get('x-pagination-next')).toBeNull();
    expect(page.body).toHaveLength(steps);
    expect(Object.keys((page.body as Row[])[0] ?? {}).toSorted()).toEqual(['checkpoint_id', 'next']);
  });

  it('and the state return single values when these are selected', async () => {
    const state = await ok(
      server.call('GET', `/threads/${thread_id}/state?select=values.nothing&select=next`),
    );
    expect(state.body).toEqual({ values: {}, next: [] });
  });

  it('is rejected for a state above the response limit, with instructions to read parts of it', async () => {
    const other = await newThread({ metadata: { graph_id: 'chat' } });
    for (let at = 0; at < 12; at++) {
      const values = { messages: [{ role: 'user', content: large(at) }] };
      await ok(server.call('POST', `/threads/${other}/state`, { values, as_node: 'answer' }));
    }
    const refused = await server.call('GET', `/threads/${other}/state`);
    expect(refused).toMatchObject({
      status: 413,
      body: {
        code: 'too_large',
        message: expect.stringContaining('the limit of a response is 1048576') as string,
      },
    });
    const part = await ok(server.call('GET', `/threads/${other}/state?select=next&select=checkpoint_id`));
    expect(part.body).toMatchObject({ next: [] });
  });
});

describe('other lists', () => {
  it('of store items are complete, with pages that end early', async () => {
    const namespace = ['answers'];
    for (let at = 0; at < 7; at++)
      expect(
        (await server.call('PUT', '/store/items', { namespace, key: `k${at}`, value: { text: large(at) } }))
          .status,
      ).toBe(204);
    const { rows, pages } = await walk(
      (offset) =>
        server.call('POST', '/store/items/search', { namespace_prefix: namespace, limit: 1_000, offset }),
      (body) => (body as { items: Row[] }).items,
    );
    expect(rows.map(({ key }) => key)).toEqual(Array.from({ length: 7 }, (_, at) => `k${6 - at}`));
    expect(rows[0]).toMatchObject({ namespace, value: { text: large(6) } });
    expect(pages).toBe(4);
  });

  it('of assistants and their versions are complete, with pages that end early', async () => {
    const context = (at: number) => ({ text: large(at) });
    const body = { graph_id: 'chat', metadata: { of: 'answers' }, context: context(0) };
    const made = (await ok(server.call('POST', '/assistants', body))).body as { assistant_id: string };
    for (let at = 1; at < 5; at++)
      await ok(server.call('PATCH', `/assistants/${made.assistant_id}`, { context: context(at) }));
    const path = `/assistants/${made.assistant_id}/versions`;
    const versions = await walk((offset) => server.call('POST', path, { limit: 1_000, offset }));
    expect(versions.rows.map(({ version }) => version)).toEqual([5, 4, 3, 2, 1]);
    expect(versions.rows[4]).toMatchObject({ context: context(0), metadata: { of: 'answers' } });
    expect(versions.pages).toBe(3);
    for (let at = 1; at < 5; at++) await ok(server.call('POST', '/assistants', body));
    const list = (more: object) => (offset: number) =>
      server.call('POST', '/assistants/search', {
        metadata: { of: 'answers' },
        limit: 1_000,
        offset,
        ...more,
      });
    const all = await walk(list({}));
    expect([all.rows.length, all.pages]).toEqual([5, 3]);
    const short = await walk(list({ select: ['name'] }));
    expect([short.rows[0], short.rows.length, short.pages]).toEqual([{ name: expect.any(String) }, 5, 1]);
  });

  it('of crons are complete, with pages that end early', async () => {
    for (let at = 0; at < 5; at++) {
      const body = {
        assistant_id: 'chat',
        schedule: '0 0 1 1 *',
        metadata: { at },
        input: { text: large(at) },
      };
      await ok(server.call('POST', '/runs/crons', body));
    }
    const list = (more: object) => (offset: number) =>
      server.call('POST', '/runs/crons/search', { sort_order: 'asc', limit: 1_000, offset, ...more });
    const { rows, pages } = await walk(list({}));
    expect(rows.map(({ metadata }) => (metadata as { at: number }).at)).toEqual([0, 1, 2, 3, 4]);
    expect(rows[1]).toMatchObject({ payload: { input: { text: large(1) } }, user_id: null });
    expect(rows[1]).not.toHaveProperty('sealed_user');
    expect(pages).toBe(3);
    const short = await walk(list({ select: ['metadata'] }));
    expect([short.rows.length, short.pages]).toEqual([5, 1]);
  });
});

describe('runs of traces', () => {
  it('are returned completely in pages that end early; by ids, as many as fit', async () => {
    await using platform = await startPlatform({ answerBytesMax: 262_144 });
    const ids = Array.from({ length: 7 }, () => randomUUID());
    const post = ids.map((id, at) => ({
      id,
      trace_id: id,
      dotted_order: `20261121T08000${at}000000Z${id}`,
      name: 'x',
      run_type: 'chain',
      session_name: 'answers',
      start_time: `2026-11-21T08:00:0${at}Z`,
      inputs: { text: large(at) },
    }));
    expect((await platform.call('POST', '/runs/batch', { json: { post } })).status).toBe(202);
    const query = (more: object) => platform.call('POST', '/runs/query', { json: { order: 'asc', ...more } });
    const runsOf = (page: Answer) => page.body as { runs: Row[]; cursors: { next: string | null } };
    const found: unknown[] = [];
    const [project] = (await platform.call('GET', '/sessions')).body as { id: string }[];
    const session = [project?.id];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const page = await ok(
        query({ session, select: ['inputs'], ...(cursor === undefined ? {} : { cursor }) }),
      );
      const { runs, cursors } = runsOf(page);
      expect(page.headers.get('x-pagination-limited-by')).toBe(cursors.next === null ? null : 'bytes');
      found.push(...runs.map(({ id }) => id));
      cursor = cursors.next;
    }
    expect([found, pages]).toEqual([ids, 4]);
    const short = await ok(query({ session, select: ['name'] }));
    expect([runsOf(short).runs.length, runsOf(short).cursors.next]).toEqual([7, null]);
    const byId = await ok(query({ id: ids }));
    expect(runsOf(byId).runs.map(({ id }) => id)).toEqual([ids[6], ids[5]]);
    expect(byId.headers.get('x-pagination-limited-by')).toBe('bytes');
  });
});

// A state that is read in pages, through the SDK.

const client = fixture(() => createClient({ apiUrl: server.url }));

const chatThread = async (...texts: string[]): Promise<string> => {
  const { thread_id } = await client.threads.create();
  for (const text of texts) await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
  return thread_id;
};

const threadWith = (out: unknown): Promise<string> => threadWithOut(client, out);

/** The value at the path, from all of its pages. */
const readAll = async (
  thread_id: string,
  request: Omit<StateValuePage, 'path' | 'offset'>,
  path: string[] = [],
): Promise<unknown> => {
  const pages: StateValue[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; offset = pages.at(-1)?.next)
    pages.push(await client.threads.getStateValue(thread_id, { ...request, path, offset }));
  const [first] = pages as [StateValue];
  if (first.type === 'string') return pages.map(({ text }) => text).join('');
  const entries: [string, unknown][] = [];
  for (const entry of pages.flatMap((page) => page.entries ?? [])) {
    const value = 'value' in entry ? entry.value : await readAll(thread_id, request, [...path, entry.key]);
    entries.push([entry.key, value]);
  }
  return first.type === 'array' ? entries.map(([, value]) => value) : Object.fromEntries(entries);
};

describe('the pages of a state', () => {
  it('have the same values as the state', async () => {
    const thread_id = await chatThread('hello', 'how are you?', 'x'.repeat(600));
    const { values } = await client.threads.getState(thread_id);
    expect(await readAll(thread_id, { limit: 4, chars: 100, whole: 200 })).toEqual(values);
  });

  it('name the checkpoint, at which a client continues while the thread changes', async () => {
    const thread_id = await chatThread('one', 'two');
    const first = await client.threads.getStateValue(thread_id, { path: ['messages'], limit: 3 });
    expect(first).toMatchObject({ type: 'array', length: 4, offset: 0, next: 3 });
    await client.runs.wait(thread_id, 'chat', { input: chatInput('three') });
    const at = { path: ['messages'], checkpointId: first.checkpoint_id ?? '', offset: 3 };
    const second = await client.threads.getStateValue(thread_id, at);
    expect(second).toMatchObject({
      checkpoint_id: first.checkpoint_id,
      length: 4,
      entries: [{ key: '3', type: 'object', value: { type: 'ai', content: 'echo two' } }],
    });
    expect(second).not.toHaveProperty('next');
    expect(await client.threads.getStateValue(thread_id, { path: '/messages' })).toMatchObject({ length: 6 });
  });

  it('begin at the end with a negative offset', async () => {
    const thread_id = await chatThread('one', 'two');
    const last = await client.threads.getStateValue(thread_id, { path: '/messages', offset: -1 });
    expect(last).toMatchObject({ offset: 3, entries: [{ key: '3', value: { content: 'echo two' } }] });
    const text = await client.threads
      .getStateValue(thread_id, { path: '/messages/-0/content' })
      .catch(String);
    expect(text).toContain('no value at the path');
    const end = { path: '/messages/3/content', offset: -3 };
    expect(await client.threads.getStateValue(thread_id, end)).toMatchObject({ offset: 5, text: 'two' });
  });

  it('are those of a subgraph that waits, by its namespace', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'nested', { input: { log: ['first'] } });
    const { tasks } = await client.threads.getState(thread_id);
    const checkpointNs = tasks[0]?.checkpoint?.checkpoint_ns ?? '';
    const { values, checkpoint_id } = await client.threads.getState(thread_id, { checkpointNs });
    expect(values).toEqual({ log: ['first', 'deep'] });
    const inner = await client.threads.getStateValue(thread_id, { checkpointNs, path: ['log'] });
    expect(inner).toMatchObject({ checkpoint_id, entries: [{ value: 'first' }, { value: 'deep' }] });
  });

  it('of a thread without a checkpoint are those of an empty state', async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getStateValue(thread_id)).toEqual({
      checkpoint_id: null,
      path: '',
      type: 'object',
      length: 0,
      size: 2,
      offset: 0,
      entries: [],
    });
  });

  it('reach members whose names contain the characters of a path', async () => {
    const thread_id = await threadWith({ 'a/b': { '~0': 'found' }, '': 'empty' });
    const { text } = await client.threads.getStateValue(thread_id, { path: ['out', 'a/b', '~0'] });
    expect(text).toBe('found');
    expect(await client.threads.getStateValue(thread_id, { path: '/out/' })).toMatchObject({ text: 'empty' });
  });

  it('leave the paths of checkpoints as they are', async () => {
    const thread_id = await chatThread('hello');
    const { checkpoint_id } = await client.threads.getState(thread_id);
    const { body } = await server.call('GET', `/threads/${thread_id}/state/${checkpoint_id}`);
    expect(body).toMatchObject({ checkpoint_id, values: { messages: [{}, {}] } });
  });
});

describe('a request for a page', () => {
  const get = (thread_id: string, query: string) =>
    server.call('GET', `/threads/${thread_id}/state/value?${query}`);

  it.each(['/nothing', '/messages/1000', '/messages/length', '/messages/0/content/0'])(
    'for the path %s, at which there is nothing, gets 404 with the path',
    async (path) => {
      const thread_id = await chatThread('hello');
      expect(await get(thread_id, `path=${path}`)).toMatchObject({
        status: 404,
        body: { message: `The state of the thread has no value at the path "${path}"` },
      });
    },
  );

  it('gets 404 for an unknown thread or checkpoint, with another message', async () => {
    const [thread_id, id] = [await chatThread('hello'), randomUUID()];
    expect((await get(id, 'path=/a')).body).toMatchObject({ message: `Thread not found: "${id}"` });
    expect((await get(thread_id, `checkpoint_id=${id}`)).body).toMatchObject({
      message: `Checkpoint not found: "${id}"`,
    });
  });

  it.each([
    ['path', 'messages'],
    ['path', '/a~2'],
    ['path', '/a~'],
    ['path', '/a'.repeat(65)],
    ['path', `/${'a'.repeat(2_048)}`],
    ['checkpoint_id', 'value'],
    ['offset', '1.5'],
    ['limit', '0'],
    ['limit', '1001'],
    ['chars', '-1'],
    ['chars', '65537'],
    ['whole', '65537'],
    ['what', '1'],
  ])('with %s=%s gets 422 with the name of the parameter', async (name, value) => {
    const thread_id = await chatThread();
    expect(await get(thread_id, `${name}=${value}`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', name] }] },
    });
  });

  it('accepts a path of 64 steps', async () => {
    expect((await get(await chatThread(), `path=${'/a'.repeat(64)}`)).status).toBe(404);
  });
});

// Enough elements for a parser thread; state-value.slow.test.ts has larger ones.
testLongState(14_000, 200, () => server);

describe('a state above the limit of a response', () => {
  it('gets 413 with the advice to read its values, and values that are small enough are read', async () => {
    const { thread_id } = await client.threads.create({ graphId: 'probe' });
    const values = { out: 'x'.repeat(1_200_000), do: 'y'.repeat(800_000) };
    await client.threads.updateState(thread_id, { values, asNode: 'act' });
    await expect(client.threads.getStateValue(thread_id)).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('path=/<name>') as string,
    });
    const page = await client.threads.getStateValue(thread_id, { path: '/do', offset: -5 });
    expect(page).toMatchObject({ length: 800_000, text: 'yyyyy' });
  });
});
