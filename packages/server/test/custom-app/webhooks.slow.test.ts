// A webhook with a path on two nodes: one that serves requests, and one that executes runs.
import { expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { input, openFor, startWebhookServer } from './webhook-app.ts';

it('a webhook with a path is delivered by a worker of another process than the one that got the request', async () => {
  await using database = await testDatabase();
  const sections = openFor(['localhost']);
  const api = await startWebhookServer({ sections, database, settings: { role: 'api' } });
  await using _api = api.server;
  const worker = await startWebhookServer({ sections, database, settings: { role: 'worker' } });
  await using _worker = worker.server;
  expect((await worker.server.call('GET', '/received')).status).toBe(404);
  const { thread_id } = await api.client.threads.create();
  const { run_id } = await api.client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' });
  await eventually(async () =>
    expect(await api.client.runs.webhooks(thread_id, run_id)).toMatchObject([{ status: 'delivered' }]),
  );
});
