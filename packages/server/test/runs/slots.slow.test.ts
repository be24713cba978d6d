// How many runs an executor takes by default: many that wait, few that compute.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { executors: '1', jobsMax: '120' } });
  client = createClient({ apiUrl: server.url });
  await eventually(async () => expect((await server.call('GET', '/ready')).status).toBe(200));
});
afterAll(() => server[Symbol.asyncDispose]());

const start = async (count: number, input: object) => {
  const create = async () => {
    const { thread_id } = await client.threads.create();
    return client.runs.create(thread_id, 'probe', { input });
  };
  return Promise.all(Array.from({ length: count }, create));
};
const statusesOf = async (runs: { thread_id: string; run_id: string }[]): Promise<string[]> =>
  Promise.all(runs.map(async (run) => (await client.runs.get(run.thread_id, run.run_id)).status));
const countOf = (statuses: string[], status: string): number =>
  statuses.filter((one) => one === status).length;

describe('an executor', () => {
  it('executes as many runs that wait as its limit allows; the next run waits for a slot', async () => {
    const runs = await start(121, { do: 'hang' });
    await eventually(async () => {
      const statuses = await statusesOf(runs);
      expect([countOf(statuses, 'running'), countOf(statuses, 'pending')]).toEqual([120, 1]);
    });
    for (const { thread_id, run_id } of runs) await client.runs.cancel(thread_id, run_id, { wait: false });
    await eventually(async () => expect(countOf(await statusesOf(runs), 'running')).toBe(0));
  });

  it('takes only ten runs while its event loop is blocked, and more when it is free again', async () => {
    const [blocking] = await start(1, { do: 'spin', ms: 6_000 });
    await eventually(async () => expect(await statusesOf([blocking!])).toEqual(['running']));
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // the executor is silent for longer than a report takes
    const others = await start(20, { do: 'sleep', ms: 10 });
    await eventually(async () => {
      const statuses = await statusesOf([blocking!, ...others]);
      expect([countOf(statuses, 'running'), countOf(statuses, 'pending')]).toEqual([10, 11]);
    });
    await eventually(async () => expect(countOf(await statusesOf(others), 'success')).toBe(20));
  });
});
