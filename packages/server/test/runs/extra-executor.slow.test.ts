// Runs that wait, beside runs of another graph that keep all executors busy.
import { randomUUID } from 'node:crypto';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { executors: '1' } });
  client = createClient({ apiUrl: server.url });
  await eventually(async () => expect((await server.call('GET', '/ready')).status).toBe(200));
});
afterAll(() => server[Symbol.asyncDispose]());

const spin = async (ms: number) => {
  const { thread_id } = await client.threads.create();
  return client.runs.create(thread_id, 'probe', { input: { do: 'spin', ms } });
};
const statusOf = async ({ thread_id, run_id }: { thread_id: string; run_id: string }) =>
  (await client.runs.get(thread_id, run_id)).status;
const chat = () =>
  client.runs.create(randomUUID(), 'chat', { input: { messages: [] }, if_not_exists: 'create' });

it('are executed by one more executor, which takes no runs that compute', async () => {
  const first = await chat();
  await client.runs.join(first.thread_id, first.run_id);
  const spinning = await spin(60_000);
  const waiting = [await chat()];
  // Those that come before the other executor has loaded its graphs wait for the one that computes.
  await eventually(async () => {
    waiting.push(await chat());
    const statuses = await Promise.all(waiting.map(statusOf));
    expect(statuses).toContain('success');
  }, 50_000);
  const further = await Promise.all(Array.from({ length: 5 }, () => spin(1_000)));
  for (let count = 0; count < 20; count++) {
    const run = await chat();
    await client.runs.join(run.thread_id, run.run_id);
  }
  expect(await Promise.all([spinning, ...further].map(statusOf))).not.toContain('success');
}, 90_000);
