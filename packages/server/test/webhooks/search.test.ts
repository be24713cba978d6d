// POST /runs/webhooks/search: deliveries across runs, in pages by cursor.
import { randomUUID } from 'node:crypto';
import { createClient, type WebhookDelivery } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { DeliverySearchService } from '../../src/deployment/webhooks/delivery-search-service.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { deliveryStorage } from '../../src/storage/deployment/webhooks/webhook-deliveries.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { endRun } from './queue.ts';
import { openSink } from './sink.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

describe('deliveries of a server', () => {
  const server = fixture(() =>
    startTestServer({ settings: { egressAllow: '127.0.0.1' }, executors: 'none' }),
  );
  const client = fixture(() => createClient({ apiUrl: server.url }));

  const run = async (webhook: string): Promise<string> => {
    const { thread_id } = await client.threads.create();
    return (await endRun(server.database, webhook, { thread_id })).run_id;
  };

  it('are found by status, newest first, with the last error and the time of the next attempt', async () => {
    await using healthy = await openSink();
    await using broken = await openSink((response) => response.writeHead(500).end());
    const delivered = await run(`${healthy.url}?key=hunter2`);
    const failing = await run(broken.url);
    const [newest, oldest] = await eventually(async () => {
      const { deliveries } = await client.runs.searchWebhooks();
      expect(deliveries.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
      return deliveries as [WebhookDelivery, WebhookDelivery];
    });
    expect(newest).toMatchObject({
      run_id: failing,
      url: broken.url,
      status: 'pending',
      attempt: 1,
      attempts: [{ status: 500 }],
      error: 'The answer was 500',
      next_attempt_at: expect.any(String),
    });
    expect(oldest).toMatchObject({ run_id: delivered, url: healthy.url, status: 'delivered', error: null });
    expect(JSON.stringify(oldest)).not.toContain('hunter2');
    expect(await client.runs.webhooks(oldest.thread_id, delivered)).toEqual([oldest]);
    const found = async (status: WebhookDelivery['status'] | WebhookDelivery['status'][]) =>
      (await client.runs.searchWebhooks({ status })).deliveries.map(({ run_id }) => run_id);
    expect(await found('pending')).toEqual([failing]);
    expect(await found(['delivered', 'failed'])).toEqual([delivered]);
    expect(await found('failed')).toEqual([]);
  });

  it('come in pages, each with the cursor of the next; deliveries of deleted threads are gone', async () => {
    await using sink = await openSink();
    const runs: string[] = [];
    for (let n = 0; n < 5; n++) runs.unshift(await run(sink.url));
    const page = (cursor?: string) =>
      client.runs.searchWebhooks({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    const seen: string[] = [];
    let next: string | undefined;
    do {
      const found = await page(next);
      seen.push(...found.deliveries.map(({ run_id }) => run_id));
      next = found.next;
    } while (next !== undefined && seen.length < 6);
    expect(seen.slice(0, 5)).toEqual(runs);
    const [first] = (await page()).deliveries;
    await client.threads.delete(first?.thread_id ?? '');
    expect((await page()).deliveries.map(({ run_id }) => run_id)).toEqual(runs.slice(1, 3));
  });

  it.each([
    ['a cursor of another server', { cursor: 'abc' }, /cursor/],
    ['an unknown status', { status: 'lost' }, /status/],
    ['an unknown field', { run_id: randomUUID() }, /run_id/],
  ])('are refused for %s', async (_, body, message) => {
    const answer = await server.call('POST', '/runs/webhooks/search', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toMatch(message);
  });
});

describe('100,000 deliveries', () => {
  let database: TestDatabase;
  let service: DeliverySearchService;
  beforeAll(async () => {
    database = await testDatabase();
    // Every thread is of the team "all"; three of them are of "few" too, whose deliveries are the oldest.
    await database.query(
      {
        name: 'seed_threads',
        text: `insert into threads (thread_id, blob_space, metadata)
        select id, id, case when n <= 3 then '{"team": "all", "owner": "few"}'::jsonb else '{"team": "all"}' end
        from (select n, md5('t' || n)::uuid as id from generate_series(1, 2000) n) t`,
      },
      [],
    );
    // Fifty of each thread, except that one in a hundred is of a stateless run. Groups of ten have the same time.
    await database.query(
      {
        name: 'seed_deliveries',
        text: `insert into webhook_deliveries (run_id, thread_id, url, status, run, metadata, attempt, created_at, ended_at)
        select md5('r' || n)::uuid, md5(case when n % 100 = 0 then 's' || n else 't' || ((n - 1) / 50 + 1) end)::uuid,
          'https://hooks.example/' || n, case when n % 1000 = 1 then 'failed' when n % 1000 = 2 then 'pending' else 'delivered' end,
          '{}', case when n = 100 then '{"owner": "few"}'::jsonb else '{}' end, n,
          timestamptz '2026-01-01' + (n / 10) * interval '1 s', case when n % 1000 = 2 then null else now() end
        from generate_series(1, 100000) n`,
      },
      [],
    );
    for (const table of ['webhook_deliveries', 'threads'])
      await database.query({ name: `analyze_${table}`, text: `analyze ${table}` }, []);
    service = new DeliverySearchService({ deliveries: deliveryStorage(database) });
  }, scaled(120_000));
  afterAll(() => database[Symbol.asyncDispose]());

  const of = (filter: Record<string, string>) => AccessFilter.parse(filter);
  const walk = async (request: Parameters<DeliverySearchService['search']>[0], access = everyRow) => {
    const all: number[] = [];
    let pages = 0;
    let cursor: string | null | undefined;
    do {
      const got = await service.search({ ...request, ...(cursor ? { cursor } : {}) }, access);
      all.push(...got.rows.map(({ attempt }) => attempt));
      cursor = got.next;
      pages++;
    } while (cursor);
    return { all, pages };
  };

  it('are returned once each, newest first', async () => {
    const { all } = await walk({ limit: 1_000 });
    expect(all).toHaveLength(100_000);
    expect(new Set(all).size).toBe(100_000);
    const times = all.map((n) => Math.floor(n / 10));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('are found by status without a scan', async () => {
    const { all, pages } = await walk({ limit: 1_000, status: ['failed'] });
    expect(all).toEqual(Array.from({ length: 100 }, (_, at) => (99 - at) * 1_000 + 1));
    expect(pages).toBe(1);
  });

  it('end a page early when the caller may read few, and continue behind it', async () => {
    const first = await service.search({ limit: 1_000 }, of({ owner: 'few' }));
    expect(first).toMatchObject({ rows: [], limitedBy: 'rows' });
    const { all, pages } = await walk({ limit: 1_000 }, of({ owner: 'few' }));
    // The hundredth is of a stateless run: its own metadata decides.
    expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, at) => at + 1));
    expect(pages).toBeLessThan(6);
  });

  it('are not found by a caller who may read none', async () => {
    expect((await walk({ limit: 1_000 }, of({ owner: 'nobody' }))).all).toEqual([]);
    const { rows } = await service.search({ limit: 3 }, of({ team: 'all' }));
    expect(rows.map(({ attempt }) => attempt % 100)).not.toContain(0);
    expect(rows).toHaveLength(3);
  });

  it('are read by the index of status and time', async () => {
    const rows = await database.query<{ 'QUERY PLAN': string }>(
      {
        name: 'plan_of_window',
        text: `explain select e.* from unnest(array['pending', 'delivered', 'failed']) s (status) cross join lateral (
        select d.delivery_id, d.created_at from webhook_deliveries d
        where d.status = s.status and (d.created_at, d.delivery_id) < ('2026-01-01T01:00:00Z'::timestamptz, md5('r1')::uuid)
        order by d.created_at desc, d.delivery_id desc limit 500) e`,
      },
      [],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/webhook_deliveries_by_status/);
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  });
});
