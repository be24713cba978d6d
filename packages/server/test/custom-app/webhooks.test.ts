// Webhooks with a path instead of a URL, which go to routes of http.app.
import { createClient, verifyWebhook, type Client } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../eventually.ts';
import { secret } from '../webhooks/queue.ts';
import type { CustomOptions, CustomServer } from './custom-server.ts';
import { input, openFor, startWebhookServer } from './webhook-app.ts';

interface Received {
  url: string;
  headers: Record<string, string>;
  text: string;
  body: Record<string, unknown>;
}

/** For one test. */
const startOwn = async (options: CustomOptions) => {
  const own = await startWebhookServer(options);
  onTestFinished(() => own.server[Symbol.asyncDispose]());
  return own;
};

let server: CustomServer;
let client: Client;
beforeAll(async () => {
  ({ server, client } = await startWebhookServer({ sections: openFor(['localhost']) }));
});
afterAll(() => server[Symbol.asyncDispose]());

/** The webhooks for a path of the app. */
const receivedAt = async (path: string, of: CustomServer = server): Promise<Received[]> =>
  ((await of.call('GET', '/received')).body as Received[]).filter(
    ({ url }) => new URL(url).pathname === path,
  );

/** The only webhook for a path of the app, once it has come. */
const oneAt = (path: string, of?: CustomServer): Promise<Received | undefined> =>
  eventually(async () => {
    const all = await receivedAt(path, of);
    expect(all).toHaveLength(1);
    return all[0];
  });

describe('a webhook with a path', () => {
  it('is delivered to the custom route, signed, in the process of the server', async () => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x?key=1' });
    const hook = await oneAt('/hooks/x');
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
    expect(await receivedAt('/hooks/flaky')).toHaveLength(2);
    expect((await receivedAt('/hooks/throws')).length).toBeGreaterThanOrEqual(1);
  });

  it('may be that of a cron and of a stateless run', async () => {
    await client.crons.create(null, 'probe', { schedule: '0 0 1 1 *', input, webhook: '/hooks/cron' });
    await server.database.script(`update crons set next_run_date = now() - interval '1 day'`);
    await client.runs.wait(null, 'probe', { input, webhook: '/hooks/stateless' });
    for (const path of ['/hooks/cron', '/hooks/stateless']) await oneAt(path);
    expect((await client.crons.search())[0]).toMatchObject({ payload: { webhook: '/hooks/cron' } });
  });

  it('needs disable_loopback: false and an app, and is a path', async () => {
    const { client: closed } = await startOwn({ executors: 'none' });
    const { thread_id } = await closed.threads.create();
    await expect(closed.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' })).rejects.toThrow(
      'a path needs "http.app", and "webhooks.url.disable_loopback": false',
    );
    const thread = await client.threads.create();
    for (const webhook of ['//evil.example/x', '/\\evil.example', 'hooks/x', `/${'x'.repeat(9000)}`])
      await expect(client.runs.create(thread.thread_id, 'probe', { input, webhook })).rejects.toMatchObject({
        status: 422,
      });
  });

  it('gets secret headers if localhost is one of the secret domains', async () => {
    const other = await startOwn({ sections: openFor(['example.com']) });
    for (const [at, authorization] of [
      [other, undefined],
      [{ server, client }, 'Bearer abc'],
    ] as const) {
      await at.client.runs.wait(null, 'probe', { input, webhook: '/hooks/headers' });
      const hook = await oneAt('/hooks/headers', at.server);
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
      const { server } = await startOwn({ sections: { webhooks }, settings: { apiKeys: key } });
      const client = createClient({ apiUrl: server.url, apiKey: key });
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'probe', { input, webhook: '/hooks/x' });
      await eventually(async () =>
        expect(await client.runs.webhooks(thread_id, run_id)).toMatchObject([{ attempts: [{ status }] }]),
      );
    }
  });
});
