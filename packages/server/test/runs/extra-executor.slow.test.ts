// Runs that wait, beside runs of another graph that keep the only executor busy.
import { randomUUID } from 'node:crypto';
import { createClient, type Client } from '@svc/sdk';
import type { Run } from '@svc/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { scaled } from '../speed.ts';

/** Ten slots while the executor is blocked, and one more before. */
const jobsMax = 11;

let server: TestServer;
let client: Client;
beforeEach(async () => {
  server = await startTestServer({ settings: { executors: '1', jobsMax } });
  client = createClient({ apiUrl: server.url });
  await eventually(async () => expect((await server.call('GET', '/ready')).status).toBe(200));
  // The server has seen a run of this graph that does not compute.
  const first = await chat();
  await client.runs.join(first.thread_id, first.run_id);
});
afterEach(() => server[Symbol.asyncDispose]());

const statusOf = async ({ thread_id, run_id }: Run): Promise<string> =>
  (await client.runs.get(thread_id, run_id)).status;
const chat = (): Promise<Run> =>
  client.runs.create(randomUUID(), 'chat', { input: { messages: [] }, if_not_exists: 'create' });
/** Blocks the event loop for longer than a test takes. */
const spin = (): Promise<Run> =>
  client.runs.create(randomUUID(), 'probe', {
    input: { do: 'spin', ms: scaled(300_000) },
    if_not_exists: 'create',
  });

it.each([
  ['a run', 1],
  ['as many runs as the executor has slots', jobsMax],
])(
  'are executed by one more executor while %s of the other graph computes',
  async (_, spinners) => {
    const spinning: Run[] = [];
    while (spinning.length < spinners) spinning.push(await spin());
    const waiting: Run[] = [];
    // Those that come before the other executor has loaded its graphs may be on the executor that is blocked.
    await eventually(async () => {
      waiting.push(await chat());
      expect(await Promise.all(waiting.map(statusOf))).toContain('success');
    }, scaled(60_000));
    const further = [await spin(), await spin()];
    for (let count = 0; count < 20; count++) {
      const { thread_id, run_id } = await chat();
      await client.runs.join(thread_id, run_id);
    }
    expect(await statusOf(spinning[0]!)).toBe('running');
    for (const run of further) expect(['pending', 'running']).toContain(await statusOf(run));
  },
  scaled(120_000),
);
