// kill -9 of every process while a job is in progress: after the restart the job continues, and no row is done twice.
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSvc, type SvcProcess } from '../durability/svc-process.ts';
import { eventually } from '../eventually.ts';
import { sharedFolder } from '../folders.ts';
import { scaled } from '../speed.ts';

const project = fileURLToPath(new URL('../durability/svc.json', import.meta.url));
const runsMax = 300;
const dataDir = sharedFolder();
let svc: SvcProcess;
let client: Client;
const start = async (): Promise<void> => {
  svc = await startSvc(dataDir, project);
  client = createClient({ apiUrl: svc.url });
};
beforeAll(start);
afterAll(() => svc.killAll());

/** Failed runs, each on a thread of its own. */
const failedRuns = async (): Promise<string[]> => {
  const threads: string[] = [];
  const work = async (): Promise<void> => {
    while (threads.length < runsMax) {
      const at = threads.push('') - 1;
      const { thread_id } = await client.threads.create();
      threads[at] = thread_id;
      await client.runs.wait(thread_id, 'probe', { input: { do: 'throw' } }, { raiseError: false });
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return threads;
};

it(
  'continues after the restart, and repeats each failed run once',
  async () => {
    const threads = await failedRuns();
    expect(threads).toHaveLength(runsMax);
    const { job_id, total } = await client.jobs.create({ kind: 'retry_runs', filter: {} });
    expect(total).toBe(runsMax);
    await client.jobs.start(job_id);
    for (const least of [0, 1]) {
      await eventually(async () =>
        expect((await client.jobs.get(job_id)).done).toBeGreaterThanOrEqual(least),
      );
      await svc.killAll();
      await start();
    }
    const job = await eventually(async () => {
      const found = await client.jobs.get(job_id);
      expect(found.ended_at).not.toBeNull();
      return found;
    }, 120_000);
    expect(job).toMatchObject({ state: 'completed', done: runsMax, failed: 0, skipped: 0 });
    for (const thread_id of threads) expect(await client.runs.list(thread_id)).toHaveLength(2);
  },
  scaled(300_000),
);
