// The state of a thread while a node runs.
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);

it.each(['sync', 'async'] as const)('names the node that runs, with durability %s', async (durability) => {
  const client = createClient({ apiUrl: server.url });
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'survey', {
    input: { plan: { hold: 'close' } },
    durability,
  });
  await eventually(async () => expect(await client.store.get(['waiting'], run_id)).toBeTruthy());
  await eventually(async () => {
    const { next, tasks } = await client.threads.getState(thread_id);
    expect({ next, tasks }).toMatchObject({ next: ['close'], tasks: [{ name: 'close', interrupts: [] }] });
  });
  await client.store.put(['barriers'], run_id, {});
  await client.runs.join(thread_id, run_id);
  expect((await client.threads.getState(thread_id)).next).toEqual([]);
});
