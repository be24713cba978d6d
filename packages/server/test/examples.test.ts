// The examples with the stock client, on the database of the test run.
import { fileURLToPath } from 'node:url';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './server.ts';

const project = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}/svc.json`, import.meta.url));
const question = (content: string) => ({ messages: [{ role: 'user', content }] });

describe('examples/agent', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ project: project('agent') });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('calls a tool, answers, and remembers the conversation', async () => {
    const client = new Client({ apiUrl: server.url });
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'agent', { input: question('What is the weather in Oslo?') });
    const values = (await client.runs.wait(thread_id, 'agent', { input: question('And 2 plus 40?') })) as {
      messages: { type: string; content: string }[];
    };
    expect(values.messages.map(({ type }) => type)).toEqual([
      'human',
      'ai',
      'tool',
      'ai',
      'human',
      'ai',
      'tool',
      'ai',
    ]);
    expect(values.messages.at(3)?.content).toBe('The weather: snow, -3 °C.');
    expect(values.messages.at(-1)?.content).toBe('The sum is 42.');
  });

  it('streams its words one by one', async () => {
    const client = new Client({ apiUrl: server.url });
    const words: string[] = [];
    for await (const { event, data } of client.runs.stream(null, 'agent', {
      input: question('weather in Lisbon'),
      streamMode: 'messages-tuple',
    })) {
      if (event === 'messages' && data[0].type.startsWith('ai') && data[0].content)
        words.push(data[0].content as string);
    }
    expect(words).toEqual(['The ', 'weather: ', 'sunny, ', '24 ', '°C.']);
  });
});

describe('examples/human-in-the-loop', () => {
  it('interrupts for approval, and follows the answer', async () => {
    await using server = await startTestServer({ project: project('human-in-the-loop') });
    const client = new Client({ apiUrl: server.url });
    const { thread_id } = await client.threads.create();
    const stopped = await client.runs.wait(thread_id, 'approval', { input: { topic: 'lunch' } });
    expect(stopped).toMatchObject({
      __interrupt__: [{ value: { question: 'Send this?', draft: 'Dear all, a word about lunch.' } }],
    });
    const done = await client.runs.wait(thread_id, 'approval', {
      command: { resume: { approve: true, edit: 'Lunch?' } },
    });
    expect(done).toEqual({ topic: 'lunch', draft: 'Lunch?', decision: 'sent' });
  });
});
