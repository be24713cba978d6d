// Each of two users finds all deliveries of their own runs, and no others.
import { fileURLToPath } from 'node:url';
import { createClient, type Client } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { openSink } from '../webhooks/sink.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

const server = fixture(() => startTestServer({ project, settings: { egressAllow: '127.0.0.1' } }));
const sink = fixture(() => openSink());

const clientOf = (user: string): Client =>
  createClient({ apiUrl: server.url, headers: { authorization: `Bearer ${user}` } });

/** A run on a thread, and a stateless one, whose row is deleted when it ends. */
const runs = async (client: Client): Promise<string[]> => {
  const { thread_id } = await client.threads.create();
  const options = { input: { action: 'user' }, webhook: sink.url };
  const created = [
    await client.runs.create(thread_id, 'probe', options),
    await client.runs.create(null, 'probe', options),
  ];
  return created.map(({ run_id }) => run_id).toSorted();
};

it('a user finds the deliveries of their own runs, on threads and without one, and no others', async () => {
  const users = ['alice', 'bob'].map(clientOf);
  const created = await Promise.all(users.map(runs));
  await eventually(() => expect(sink.received).toHaveLength(4));
  const found = async (client: Client) =>
    (await client.runs.searchWebhooks({ limit: 100 })).deliveries.map(({ run_id }) => run_id).toSorted();
  expect(await Promise.all(users.map(found))).toEqual(created);
});

it('a page that begins behind a delivery of another user has own deliveries only', async () => {
  const [alice, bob] = ['alice', 'bob'].map(clientOf) as [Client, Client];
  const { next } = await alice.runs.searchWebhooks({ limit: 1 });
  const seen = (await bob.runs.searchWebhooks({ cursor: next ?? '' })).deliveries;
  const own = (await bob.runs.searchWebhooks()).deliveries.map(({ delivery_id }) => delivery_id);
  for (const { delivery_id } of seen) expect(own).toContain(delivery_id);
});

it('nobody finds deliveries without a credential', async () => {
  expect((await server.call('POST', '/runs/webhooks/search', {})).status).toBe(401);
});
