// POST …/webhooks/:delivery_id/retry: a delivery is sent again.
import { randomUUID } from 'node:crypto';
import { createClient, type Client, type WebhookDelivery } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { openSink } from './sink.ts';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startTestServer({ settings: { egressAllow: '127.0.0.1' } });
  client = createClient({ apiUrl: server.url });
});
afterAll(() => server[Symbol.asyncDispose]());

const run = async (webhook: string) => {
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'probe', { input: { do: 'date' }, webhook });
  await client.runs.join(thread_id, run_id);
  return { thread_id, run_id };
};

/** The delivery, when it has had this many attempts with this outcome. */
const delivery = (
  { thread_id, run_id }: { thread_id: string; run_id: string },
  status: WebhookDelivery['status'],
  attempts: number,
): Promise<WebhookDelivery> =>
  eventually(async () => {
    const [found] = await client.runs.webhooks(thread_id, run_id);
    expect([found?.status, found?.attempts.length]).toEqual([status, attempts]);
    return found!;
  });

const retry = ({ thread_id, run_id, delivery_id }: WebhookDelivery): Promise<WebhookDelivery> =>
  client.runs.retryWebhook(thread_id, run_id, delivery_id);

describe('a delivery', () => {
  it('that failed is sent again with the same id and content, and keeps its earlier attempts', async () => {
    let status = 418;
    await using sink = await openSink((response) => response.writeHead(status).end());
    const failed = await delivery(await run(sink.url), 'failed', 1);
    status = 200;
    expect(await retry(failed)).toMatchObject({
      delivery_id: failed.delivery_id,
      status: 'pending',
      attempt: 0,
      attempts: failed.attempts,
      next_attempt_at: expect.any(String),
      ended_at: null,
    });
    const delivered = await delivery(failed, 'delivered', 2);
    expect(delivered.attempts.map((attempt) => attempt.status)).toEqual([418, 200]);
    const [first, second] = sink.received;
    expect(second?.headers['svc-delivery-id']).toBe(first?.headers['svc-delivery-id']);
    expect({ ...second?.body, webhook_sent_at: '' }).toEqual({ ...first?.body, webhook_sent_at: '' });
  });

  it('that failed has all its attempts again', async () => {
    let status = 418;
    await using sink = await openSink((response) => response.writeHead(status).end());
    const failed = await delivery(await run(sink.url), 'failed', 1);
    status = 500;
    await retry(failed);
    expect(await delivery(failed, 'pending', 2)).toMatchObject({ attempt: 1, error: 'The answer was 500' });
  });

  it('that waits for its next attempt is sent at once, and its attempts are counted on', async () => {
    await using sink = await openSink((response) => response.writeHead(500).end());
    const waiting = await delivery(await run(sink.url), 'pending', 1);
    await retry(waiting);
    expect(await delivery(waiting, 'pending', 2)).toMatchObject({ attempt: 2 });
  });

  it('that was delivered is not sent again: 409', async () => {
    await using sink = await openSink();
    const delivered = await delivery(await run(sink.url), 'delivered', 1);
    await expect(retry(delivered)).rejects.toMatchObject({ status: 409 });
    expect(sink.received).toHaveLength(1);
  });

  it('is not sent twice at once: 409 during an attempt, whose outcome counts', async () => {
    let finish = (): void => undefined;
    await using sink = await openSink((response) => (finish = () => void response.end()));
    const ended = await run(sink.url);
    await eventually(() => expect(sink.received).toHaveLength(1));
    const [underWay] = await client.runs.webhooks(ended.thread_id, ended.run_id);
    await expect(retry(underWay!)).rejects.toMatchObject({ status: 409 });
    finish();
    await delivery(ended, 'delivered', 1);
    expect(sink.received).toHaveLength(1);
  });

  it('that does not exist, or belongs to another run, is not found', async () => {
    await using sink = await openSink((response) => response.writeHead(418).end());
    const failed = await delivery(await run(sink.url), 'failed', 1);
    const other = await run(sink.url);
    for (const wrong of [{ delivery_id: randomUUID() }, other, { thread_id: other.thread_id }])
      await expect(retry({ ...failed, ...wrong })).rejects.toMatchObject({ status: 404 });
    expect(await delivery(failed, 'failed', 1)).toEqual(failed);
  });
});
