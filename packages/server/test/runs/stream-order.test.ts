// The order of events in a stream, and which modes carry what, as the stock server sends them.
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server?.[Symbol.asyncDispose]());

const input = { messages: [{ role: 'user', content: 'hello' }] };

const streamed = async (modes: ('values' | 'messages' | 'events')[]) => {
  const seen: { event: string; data: unknown }[] = [];
  for await (const { event, data } of client.runs.stream(null, 'chat', { input, streamMode: modes }))
    seen.push({ event, data });
  return seen;
};

describe('a stream', () => {
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
});
