// What /ready reports of the workers and of the queue.
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';

it('/ready reports the slots of live workers, the runs that take them, and the age of the oldest run without one', async () => {
  await using server = await startTestServer({ settings: { executors: '1', jobsMax: 2 } });
  const client = createClient({ apiUrl: server.url });
  await eventually(async () =>
    expect(await client.ready()).toMatchObject({ workers: 1, slots: 2, running: 0, oldest_pending_ms: null }),
  );
  const runs = await client.runs.createBatch(
    Array.from({ length: 3 }, () => ({ assistant_id: 'probe', input: { do: 'hang' } })),
  );
  await eventually(async () =>
    expect(await client.ready()).toMatchObject({
      slots: 2,
      running: 2,
      pending: 1,
      oldest_pending_ms: expect.any(Number) as number,
    }),
  );
  for (const { thread_id, run_id } of runs) await client.runs.cancel(thread_id, run_id, { wait: false });
  await eventually(async () => expect(await client.ready()).toMatchObject({ running: 0, pending: 0 }));
});
