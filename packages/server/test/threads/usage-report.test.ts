// GET /threads/{id}/storage: how many bytes a thread occupies.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer();
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const say = (thread_id: string, content: string) =>
  client.runs.wait(thread_id, 'chat', { input: { messages: [{ role: 'user', content }] } });

describe('the storage report of a thread', () => {
  it('is empty for a thread without a state', async () => {
    const { thread_id } = await client.threads.create();
    expect(await client.threads.getStorage(thread_id)).toEqual({
      thread_id,
      total_bytes: 0,
      checkpoints: { count: 0, bytes: 0 },
      channel_values: { count: 0, bytes: 0, by_channel: {} },
      pending_writes: { count: 0, bytes: 0 },
    });
  });

  it('counts a value once, however many checkpoints contain it', async () => {
    const { thread_id } = await client.threads.create();
    await say(thread_id, 'x'.repeat(100_000));
    const first = await client.threads.getStorage(thread_id);
    const messages = first.channel_values.by_channel['messages'];
    expect(messages?.bytes).toBeGreaterThan(100_000);
    expect(messages?.bytes).toBeLessThan(250_000);
    expect(first.channel_values.bytes).toBeGreaterThanOrEqual(messages?.bytes ?? 0);
    await say(thread_id, 'short');
    const second = await client.threads.getStorage(thread_id);
    expect(second.checkpoints.count).toBeGreaterThan(first.checkpoints.count);
    expect(second.channel_values.by_channel['messages']?.versions).toBeGreaterThan(messages?.versions ?? 0);
    expect(second.channel_values.by_channel['messages']?.bytes).toBeLessThan((messages?.bytes ?? 0) + 20_000);
    const { checkpoints, channel_values, pending_writes, total_bytes } = second;
    expect(checkpoints.count).toBe((await client.threads.getHistory(thread_id, { limit: 100 })).length);
    expect(total_bytes).toBe(checkpoints.bytes + channel_values.bytes + pending_writes.bytes);
  });

  it('counts what a copy shares with its source', async () => {
    const { thread_id } = await client.threads.create();
    await say(thread_id, 'x'.repeat(10_000));
    const copy = await client.threads.copy(thread_id);
    const [own, copied] = await Promise.all(
      [thread_id, copy.thread_id].map((id) => client.threads.getStorage(id)),
    );
    expect(copied?.channel_values).toEqual(own?.channel_values);
  });

  it('does not exist for an unknown thread', async () => {
    const { status } = await server.call('GET', '/threads/6f9619ff-8b86-d011-b42d-00cf4fc964ff/storage');
    expect(status).toBe(404);
  });
});
