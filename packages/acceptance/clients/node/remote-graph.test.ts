// RemoteGraph of @langchain/langgraph: a graph on the server as a node of a local program.
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatInput } from '../../../server/test/chat-input.ts';
import { collect } from '../../../server/test/collect.ts';
import { eventually } from '../../../server/test/eventually.ts';
import { bearer, openServer, tokens, type Server } from '../../deployment.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

const connect = (token?: string) =>
  new RemoteGraph({ graphId: 'agent', url: server.url, headers: bearer(token) });

const newThread = async (token?: string) => {
  const client = new Client({ apiUrl: server.url, defaultHeaders: bearer(token) });
  return { configurable: { thread_id: (await client.threads.create()).thread_id } };
};

const contentsOf = (values: unknown): unknown[] =>
  (values as { messages: { content: unknown }[] }).messages.map(({ content }) => content);

describe('RemoteGraph', () => {
  it('invokes the graph, with and without a thread', async () => {
    const graph = connect();
    expect(contentsOf(await graph.invoke(chatInput('hello')))).toEqual(['hello', 'You said: hello']);
    const config = await newThread();
    await graph.invoke({ messages: [new HumanMessage('one')] }, config);
    const values = await graph.invoke({ messages: [new HumanMessage('two')] }, config);
    expect(contentsOf(values)).toEqual(['one', 'You said: one', 'two', 'You said: two']);
  });

  it('streams values, updates and messages', async () => {
    const stream = await connect().stream(chatInput('hello'), {
      streamMode: ['values', 'updates', 'messages'],
    });
    const parts = (await collect(stream)) as unknown as [string, never][];
    expect(new Set(parts.map(([mode]) => mode))).toEqual(new Set(['values', 'updates', 'messages']));
    expect(contentsOf(parts.findLast(([mode]) => mode === 'values')?.[1])).toEqual([
      'hello',
      'You said: hello',
    ]);
  });

  it('streams version v3: messages token by token, values and the output', async () => {
    const run = await connect().streamEvents(chatInput('hello'), { ...(await newThread()), version: 'v3' });
    const texts: string[][] = [];
    for await (const message of run.messages) texts.push(await collect(message.text));
    expect(texts).toEqual([['You', ' said:', ' hello']]);
    expect(contentsOf(await run.output)).toEqual(['hello', 'You said: hello']);
    expect(run.interrupted).toBe(false);
  });

  it('reads and updates the state, and lists the history', async () => {
    const graph = connect();
    const config = await newThread();
    await graph.invoke(chatInput('hello'), config);
    await graph.updateState(config, { messages: [new AIMessage('and more')] }, 'answer');
    const { values, next } = await graph.getState(config);
    expect(contentsOf(values)).toEqual(['hello', 'You said: hello', 'and more']);
    expect(next).toEqual([]);
    expect((await collect(graph.getStateHistory(config))).length).toBeGreaterThan(2);
  });

  it('gets interrupts and resumes with a command', async () => {
    const graph = connect();
    const config = await newThread();
    await expect(graph.invoke(chatInput('a letter'), config)).rejects.toThrow('Send the letter?');
    await eventually(async () => {
      const { tasks } = await graph.getState(config);
      expect(tasks[0]?.interrupts[0]?.value).toMatchObject({ question: 'Send the letter?' });
    });
    const values = await graph.invoke(new Command({ resume: 'yes' }), config);
    expect(contentsOf(values)).toEqual(['a letter', 'The letter is sent.']);
  });

  it('gets interrupts and resumes in version v3', async () => {
    const graph = connect();
    const config = await newThread();
    const first = await graph.streamEvents(chatInput('a letter'), { ...config, version: 'v3' });
    await first.output;
    expect(first.interrupted).toBe(true);
    expect(first.interrupts).toMatchObject([{ payload: { question: 'Send the letter?' } }]);
    const interrupt_id = first.interrupts[0]!.interruptId;
    await first.thread.input.respond({ namespace: [], interrupt_id, response: 'yes' });
    await eventually(async () =>
      expect(contentsOf((await graph.getState(config)).values)).toEqual(['a letter', 'The letter is sent.']),
    );
    first.abort();
  });

  it('draws the graph', async () => {
    const { nodes } = await connect().getGraphAsync();
    expect(Object.keys(nodes)).toEqual(expect.arrayContaining(['answer', 'tools', 'approve']));
  });

  it('is refused on a thread of another user', async () => {
    const config = await newThread(tokens.ben);
    await expect(connect().invoke(chatInput('hello'), config)).rejects.toThrow('404');
  });
});
