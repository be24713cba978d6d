// The order of events in a stream, and which modes carry what, as the stock server sends them.
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { readTokensAtOnce } from './tokens-at-once.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ executors: 'ready' });
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const input = { messages: [{ role: 'user', content: 'hello' }] };

type Mode = 'values' | 'messages' | 'messages-tuple' | 'events' | 'custom';

const streamed = async (streamMode: Mode[], graph = 'chat', streamSubgraphs = false) => {
  const seen: { event: string; data: unknown }[] = [];
  const stream = client.runs.stream(null, graph, { input, streamMode, streamSubgraphs });
  for await (const { event, data } of stream) seen.push({ event, data });
  return seen;
};

describe('a stream', () => {
  it('has the events of a node while it executes in one turn of the event loop', async () => {
    const file = join(tmpdir(), randomUUID());
    const input = { do: 'emitUntil', ms: scaled(50_000), out: file };
    const { thread_id } = await client.threads.create();
    try {
      for await (const { event } of client.runs.stream(thread_id, 'probe', { input, streamMode: ['custom'] }))
        if (event === 'custom') writeFileSync(file, '');
    } finally {
      rmSync(file, { force: true });
    }
    expect((await client.threads.getState(thread_id)).values).toMatchObject({ out: 'read' });
  });

  it('sends messages/complete after the values that contain the messages', async () => {
    const seen = (await streamed(['values', 'messages'])).filter(
      ({ event }) => event !== 'messages/metadata',
    );
    const ofValues = seen.flatMap(({ event, data }, at) => {
      const before = seen[at - 1];
      if (event !== 'messages/complete' || before?.event !== 'values') return [];
      const { messages } = before.data as { messages: { id: string }[] };
      return [[(data as { id: string }[]).map(({ id }) => id), messages.slice(-1).map(({ id }) => id)]];
    });
    expect(ofValues.length).toBeGreaterThan(0);
    for (const [complete, last] of ofValues) expect(complete).toEqual(last);
    expect(seen.at(-1)?.event).toBe('messages/complete');
  });

  it('has every token of a model that never waits, also in runs that are executed at once', () =>
    readTokensAtOnce(client, 1));

  it('has the events of nodes and models in the mode events, and not the chunks of the run itself', async () => {
    const seen = await streamed(['events', 'values']);
    const { run_id: runId } = (seen[0] ?? { data: {} }).data as { run_id?: string };
    const events = seen
      .filter(({ event }) => event === 'events')
      .map(({ data }) => data as { event: string; run_id: string });
    const own = events.filter(({ run_id }) => run_id === runId).map(({ event }) => event);
    expect(own).toEqual(['on_chain_start', 'on_chain_end']);
    expect(events.map(({ event }) => event)).toContain('on_chat_model_stream');
    expect(seen.filter(({ event }) => event === 'values').length).toBeGreaterThan(0);
  });

  it('names the subgraph of tokens and custom events with subgraphs', async () => {
    const seen = await streamed(['messages-tuple', 'custom'], 'layers', true);
    const names = seen.map(({ event }) => event.replace(/:.*/, ''));
    const tokens = Array.from('deep', () => 'messages|sub');
    expect(names).toEqual(['metadata', 'custom|sub', ...tokens, 'messages']);
  });

  it('has the custom events of subgraphs without subgraphs, and their messages as those of the node', async () => {
    const seen = await streamed(['messages-tuple', 'custom'], 'layers');
    expect(seen.map(({ event }) => event)).toEqual(['metadata', 'custom', 'messages', 'messages']);
    const messages = seen
      .slice(2)
      .map(({ data }) => data as [{ content: string }, { langgraph_node: string }]);
    expect(messages.map(([{ content }, { langgraph_node: node }]) => [content, node])).toEqual([
      ['deep', 'sub'],
      ['over', 'last'],
    ]);
  });

  it.each([false, true])(
    'has the tokens of all models in the mode messages (with subgraphs: %s)',
    async (subgraphs) => {
      const seen = await streamed(['messages'], 'layers', subgraphs);
      const parts = seen.map(({ event, data }) => {
        const [message] = Array.isArray(data) ? (data as { content: string }[]) : [];
        return [event, ...(message ? [message.content] : [])];
      });
      expect(parts).toEqual([
        ['metadata'],
        ['messages/complete', 'hello'],
        ['messages/metadata'],
        ...['d', 'de', 'dee', 'deep'].map((text) => ['messages/partial', text]),
        ['messages/complete', 'deep'],
        ['messages/complete', 'over'],
      ]);
    },
  );
});
