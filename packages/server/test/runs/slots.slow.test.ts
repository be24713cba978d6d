// How many runs an executor takes by default: many that wait, few that compute.
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@svc/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { sharedFolder } from '../folders.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() => startTestServer({ settings: { executors: '1', jobsMax: 120 } }));
const client = fixture(() => createClient({ apiUrl: server.url }));
const dir = sharedFolder();
beforeAll(async () => {
  await eventually(async () => expect((await server.call('GET', '/ready')).status).toBe(200));
});

const start = async (count: number, input: object) => {
  const create = async () => {
    const { thread_id } = await client.threads.create();
    return client.runs.create(thread_id, 'probe', { input });
  };
  return Promise.all(Array.from({ length: count }, create));
};
const statusesOf = async (runs: { thread_id: string; run_id: string }[]): Promise<string[]> =>
  Promise.all(runs.map(async (run) => (await client.runs.get(run.thread_id, run.run_id)).status));
const freeSlots = async (): Promise<number> => {
  const { body } = await server.call('GET', '/metrics');
  return Number(/^svc_free_slots (\d+)$/m.exec(String(body))?.[1]);
};
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
    const file = join(dir, 'spin until');
    const [blocking] = await start(1, { do: 'spinUntil', out: file });
    await eventually(() => access(`${file}.begun`));
    // The executor is silent for longer than a report takes.
    await eventually(async () => expect(await freeSlots()).toBe(9));
    const others = await start(20, { do: 'sleep', ms: 10 });
    await eventually(async () => {
      const statuses = await statusesOf([blocking!, ...others]);
      expect([countOf(statuses, 'running'), countOf(statuses, 'pending')]).toEqual([10, 11]);
    });
    await writeFile(file, '');
    await eventually(async () => expect(countOf(await statusesOf(others), 'success')).toBe(20));
  });
});
