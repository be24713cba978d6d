// A state that is read in pages, through the SDK.
import { randomUUID } from 'node:crypto';
import { createClient, type Client, type StateValue, type StateValuePage } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { testLongState, threadWithOut } from './long-state.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { answerBytesMax: 262_144 } });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

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
