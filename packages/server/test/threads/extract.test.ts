// `extract` of a search of threads, sent by the stock client.
import { randomUUID } from 'node:crypto';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const search = (body: object) => server.call('POST', '/threads/search', body);

/** A thread with one answered message. */
const answered = async (text: string, metadata: Record<string, unknown> = {}): Promise<string> => {
  const { thread_id } = await client.threads.create({ metadata });
  await client.runs.wait(thread_id, 'chat', { input: chatInput(text) });
  return thread_id;
};

describe('a search of threads extracts', () => {
  it('parts of the newest values, of metadata and of interrupts', async () => {
    const group = randomUUID();
    const chat = await answered('good morning', { group, customer: { name: 'Ada' } });
    const { thread_id } = await client.threads.create({ metadata: { group } });
    await client.runs.wait(thread_id, 'approval', { input: {} });

    const found = await client.threads.search({
      metadata: { group },
      extract: {
        first: 'values.messages[0].content',
        last: 'values.messages[-1].type',
        log: 'values.log',
        name: 'metadata.customer.name',
        interrupts: 'interrupts',
      },
    });

    const { interrupts } = await client.threads.get(thread_id);
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
    const { values } = await client.threads.get(thread_id);
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
    await client.threads.create({ metadata: { group } });
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
