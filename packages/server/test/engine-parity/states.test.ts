// What the API shows of a thread is what the bare engine shows, after the same operations on the same graph.
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

it.each([[['values']], [['values', 'updates', 'tasks', 'messages-tuple']]] as const)(
  'the next nodes and the writes of each checkpoint are recorded with stream modes %j',
  async (modes) => {
    const { thread_id } = await client.threads.create();
    const stream = client.runs.stream(thread_id, 'fanout', { input: {}, stream_mode: [...modes] });
    for await (const event of stream) expect(event.event).not.toBe('error');
    const history = await client.threads.getHistory(thread_id, { limit: 100 });
    const found = history.map(({ next, metadata }) => [
      (metadata as { step: number }).step,
      [...new Set(next)],
      Object.keys((metadata as { writes?: object }).writes ?? {}),
    ]);
    expect(found).toEqual([
      [3, [], ['reduce']],
      [2, ['reduce'], ['each']],
      [1, ['each'], []],
      [0, ['plan'], []],
      [-1, ['__start__'], ['__start__']],
    ]);
  },
);
