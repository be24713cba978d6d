// Webhooks with a path instead of a URL, which go to routes of http.app.
import { createClient, verifyWebhook } from '@svc/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { secret } from '../webhooks/queue.ts';
import { type CustomOptions, type CustomServer, startCustomServer } from './custom-server.ts';

const app = `
const received = [];
let failures = 1;
export const app = new Hono();
app.post('/hooks/:name', async (c) => {
  const text = await c.req.text();
  received.push({ url: c.req.url, headers: c.req.header(), text, body: JSON.parse(text) });
  if (c.req.param('name') === 'flaky' && failures-- > 0) return c.text('not yet', 503);
  if (c.req.param('name') === 'throws') throw new Error('no');
  return c.json({ ok: true });
});
app.get('/received', (c) => c.json(received));
`;

interface Received {
  url: string;
  headers: Record<string, string>;
  text: string;
  body: Record<string, unknown>;
}

const open = { webhooks: { url: { disable_loopback: false } } };
const input = { do: 'date' };

const servers: CustomServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0).toReversed()) await server[Symbol.asyncDispose]();
});

const start = async (options: CustomOptions = { sections: open }) => {
  const server = await startCustomServer(app, {
    ...options,
    settings: { webhookSecret: secret, ...options.settings },
  });
  servers.push(server);
  return { server, client: createClient({ apiUrl: server.url }) };
};

const receivedBy = async (server: CustomServer): Promise<Received[]> =>
  (await server.call('GET', '/received')).body as Received[];

describe('a webhook with a path', () => {
  it('is delivered to the custom route, signed, in the process of the server', async () => {
    const { server, client } = await start();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x?key=1' });
    const [hook] = await eventually(async () => {
      const all = await receivedBy(server);
      expect(all).toHaveLength(1);
      return all;
    });
    expect(hook).toMatchObject({
      url: 'http://localhost/hooks/x?key=1',
      body: { run_id, status: 'success', values: { out: '1970-01-01T00:00:00.000Z' } },
    });
    expect(await verifyWebhook(secret, hook?.headers['svc-signature'], hook?.text ?? '')).toBe(true);
    await eventually(async () =>
      expect(await client.runs.webhooks(thread_id, run_id)).toMatchObject([
        { status: 'delivered', url: '/hooks/x', attempts: [{ status: 200 }] },
      ]),
    );
  });

  it('is sent again after an error, and fails for a path without a route', async () => {
    const { server, client } = await start();
    const { thread_id } = await client.threads.create();
    const send = (webhook: string) => client.runs.create(thread_id, 'probe', { input, webhook });
    const deliveryOf = async ({ run_id }: { run_id: string }) =>
      (await client.runs.webhooks(thread_id, run_id))[0];
    const flaky = await send('/hooks/flaky');
    // Built-in routes get no webhooks: clients choose the path.
    const missing = [await send('/hooks'), await send('/threads'), await send('/threads/search')];
    for (const run of missing)
      await eventually(async () =>
        expect(await deliveryOf(run)).toMatchObject({ status: 'failed', error: 'The answer was 404' }),
      );
    await eventually(async () =>
      expect(await deliveryOf(flaky)).toMatchObject({
        status: 'delivered',
        attempts: [{ status: 503 }, { status: 200 }],
      }),
    );
    const broken = await send('/hooks/throws');
    await eventually(async () =>
      expect(await deliveryOf(broken)).toMatchObject({ status: 'pending', error: 'The answer was 500' }),
    );
    expect((await receivedBy(server)).length).toBeGreaterThanOrEqual(3);
  });

  it('may be that of a cron and of a stateless run', async () => {
    const { server, client } = await start();
    await client.crons.create(null, 'probe', { schedule: '0 0 1 1 *', input, webhook: '/hooks/cron' });
    await server.database.script(`update crons set next_run_date = now() - interval '1 day'`);
    await client.runs.wait(null, 'probe', { input, webhook: '/hooks/stateless' });
    await eventually(async () => {
      const paths = (await receivedBy(server)).map(({ url }) => new URL(url).pathname);
      expect(paths.toSorted()).toEqual(['/hooks/cron', '/hooks/stateless']);
    });
    expect((await client.crons.search())[0]).toMatchObject({ payload: { webhook: '/hooks/cron' } });
  });

  it('is delivered by a worker of another process than the one that got the request', async () => {
    await using database = await testDatabase();
    const { client } = await start({ sections: open, database, settings: { role: 'api' } });
    const { server: worker } = await start({ sections: open, database, settings: { role: 'worker' } });
    expect((await worker.call('GET', '/received')).status).toBe(404);
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' });
    await eventually(async () =>
      expect(await client.runs.webhooks(thread_id, run_id)).toMatchObject([{ status: 'delivered' }]),
    );
    for (const server of servers.splice(0).toReversed()) await server[Symbol.asyncDispose]();
  });

  it('needs disable_loopback: false and an app, and is a path', async () => {
    const { client } = await start({});
    const { client: opened } = await start();
    const { thread_id } = await client.threads.create();
    await expect(client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' })).rejects.toThrow(
      'a path needs "http.app", and "webhooks.url.disable_loopback": false',
    );
    const thread = await opened.threads.create();
    for (const webhook of ['//evil.example/x', '/\\evil.example', 'hooks/x', `/${'x'.repeat(9000)}`])
      await expect(opened.runs.create(thread.thread_id, 'probe', { input, webhook })).rejects.toMatchObject({
        status: 422,
      });
  });

  it('gets secret headers if localhost is one of the secret domains', async () => {
    const headers = { authorization: 'Bearer abc', 'x-sent-by': 'svc' };
    for (const [secret_domains, authorization] of [
      [['example.com'], undefined],
      [['localhost'], 'Bearer abc'],
    ] as const) {
      const { server, client } = await start({
        sections: { webhooks: { headers, secret_domains, url: { disable_loopback: false } } },
      });
      await client.runs.wait(null, 'probe', { input, webhook: '/hooks/x' });
      const [hook] = await eventually(async () => {
        const all = await receivedBy(server);
        expect(all).toHaveLength(1);
        return all;
      });
      expect(hook?.headers['x-sent-by']).toBe('svc');
      expect(hook?.headers['authorization']).toBe(authorization);
    }
  });

  it('to a route that needs authentication needs the credentials in the headers of webhooks', async () => {
    const key = 'k'.repeat(32);
    const url = { disable_loopback: false };
    for (const [headers, status] of [
      [{}, 401],
      [{ 'x-api-key': key }, 200],
    ] as const) {
      const webhooks = { headers, secret_domains: ['localhost'], url };
      const { server } = await start({ sections: { webhooks }, settings: { apiKeys: key } });
      const client = createClient({ apiUrl: server.url, apiKey: key });
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' });
      await eventually(async () =>
        expect(await client.runs.webhooks(thread_id, run_id)).toMatchObject([{ attempts: [{ status }] }]),
      );
    }
  });
});
