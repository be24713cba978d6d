// A subgraph with a memory of its own gets each input once, whenever the executor of its run is killed.
import { fileURLToPath } from 'node:url';
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({ project: fileURLToPath(new URL('./svc.json', import.meta.url)) }),
);
const client = fixture(() => createClient({ apiUrl: server.url }));

it.each(['before b', 'in b', 'before c', 'in c'])('a run whose executor is killed %s', async (hold) => {
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'memory', { input: { topics: ['a'], at: 0 } });

  const [place, topic] = hold.split(' ');
  const input = { topics: ['b', 'c'], at: 0, hold };
  const { run_id } = await client.runs.create(thread_id, 'memory', { input });
  await eventually(async () => expect(await client.store.get(['waiting'], run_id)).toBeTruthy());
  await eventually(async () => {
    const root = await client.threads.getState(thread_id);
    expect(root).toMatchObject({
      next: ['ask'],
      metadata: { run_id },
      values: { at: topic === 'c' ? 1 : 0 },
    });
    if (place === 'before') return;
    const inner = await client.threads.getState(thread_id, { checkpointNs: 'ask' });
    expect(inner).toMatchObject({ next: ['listen'], metadata: { run_id }, values: { topic } });
  });
  await client.store.put(['barriers'], run_id, { exit: 1 });
  await client.runs.join(thread_id, run_id);
  expect(await client.runs.get(thread_id, run_id)).toMatchObject({ status: 'success' });
  const { values } = await client.threads.getState(thread_id);
  expect(values).toMatchObject({ log: ['a', 'a+b', 'a+b+c'] });
});
