// POST /runs/search: runs across threads, in pages by cursor.
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunSearchService } from '../../src/deployment/runs/run-search-service.ts';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { TestDatabase } from '../database.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { databaseWithRuns, expectInOrder, numbersOf, type RunSearch, walkRuns } from './many-runs.ts';

interface Found {
  run_id: string;
  thread_id: string;
  status: string;
  metadata: Record<string, unknown>;
  created_at: string;
  ended_at?: string;
}

describe('runs of a server', () => {
  let server: TestServer;
  const ids: string[] = [];
  beforeAll(async () => {
    server = await startTestServer();
    for (let at = 0; at < 7; at++) {
      const thread_id = randomUUID();
      const body = {
        assistant_id: 'chat',
        input: { messages: [] },
        metadata: { at, parity: at % 2 },
        if_not_exists: 'create',
        after_seconds: at === 6 ? 0 : 3_600,
      };
      const { body: run } = await server.call('POST', `/threads/${thread_id}/runs`, body);
      ids.push((run as Found).run_id);
      if (at === 6) await server.call('GET', `/threads/${thread_id}/runs/${ids[6]}/join`);
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const search = async (body: object = {}) => {
    const answer = await server.call('POST', '/runs/search', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return { runs: answer.body as Found[], next: answer.headers.get('x-pagination-next') };
  };
  const found = async (body: object) => (await search(body)).runs.map(({ run_id }) => ids.indexOf(run_id));

  it('are listed newest first, or oldest first', async () => {
    expect(await found({})).toEqual([6, 5, 4, 3, 2, 1, 0]);
    expect(await found({ sort_order: 'asc' })).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('are filtered by status, graph, metadata, thread and time', async () => {
    const { runs } = await search();
    expect(await found({ status: 'success' })).toEqual([6]);
    expect(await found({ status: ['success', 'pending'], metadata: { parity: 0 } })).toEqual([6, 4, 2, 0]);
    expect(await found({ graph_id: 'chat', limit: 2 })).toEqual([6, 5]);
    expect(await found({ graph_id: 'nothing' })).toEqual([]);
    expect(await found({ assistant_id: randomUUID() })).toEqual([]);
    expect(await found({ thread_id: runs[2]?.thread_id })).toEqual([4]);
    expect(await found({ thread_id: randomUUID() })).toEqual([]);
    const { created_at } = runs[3] as Found;
    const after = await found({ created_after: created_at });
    const before = await found({ created_before: created_at });
    expect(after).toContain(3);
    expect([...after, ...before]).toEqual([6, 5, 4, 3, 2, 1, 0]);
    const { ended_at = '' } = runs[0] as Found;
    const end = new Date(Date.parse(ended_at) + 1).toISOString();
    expect(await found({ ended_after: ended_at, ended_before: end })).toEqual([6]);
    expect(await found({ ended_after: end })).toEqual([]);
    expect(await found({ ended_before: ended_at })).toEqual([]);
  });

  it('are found by id, with the other filters', async () => {
    expect(await found({ run_id: ids[3] })).toEqual([3]);
    expect(await found({ run_id: ids[3]?.toUpperCase(), metadata: { at: 3 } })).toEqual([3]);
    expect(await found({ run_id: ids[3], status: 'success' })).toEqual([]);
    expect(await found({ run_id: ids[3], thread_id: randomUUID() })).toEqual([]);
    expect(await found({ run_id: ids[3], created_after: '9999-01-01T00:00:00Z' })).toEqual([]);
    expect(await found({ run_id: randomUUID() })).toEqual([]);
  });

  it('come in pages, each with the cursor of the next', async () => {
    const seen: number[] = [];
    let cursor: string | null | undefined;
    do {
      const { runs, next } = await search({ limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...runs.map(({ run_id }) => ids.indexOf(run_id)));
      cursor = next;
    } while (cursor);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
  });

  it('have the selected fields only', async () => {
    const { runs } = await search({ select: ['status'], limit: 1 });
    expect(Object.keys(runs[0] ?? {})).toEqual(['status']);
  });

  it.each([
    ['a cursor of another server', { cursor: 'abc' }, /cursor/],
    ['a day that does not exist', { created_after: '2026-02-30T00:00:00Z' }, /created_after/],
    ['the year 0', { created_before: '0000-01-01T00:00:00Z' }, /created_before/],
    ['an unknown status', { status: 'lost' }, /status/],
    ['an unknown field', { select: ['sealed'] }, /select/],
  ])('are refused for %s', async (_, body, message) => {
    const answer = await server.call('POST', '/runs/search', body);
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toMatch(message);
  });
});

describe('100,000 runs of 2,000 threads', () => {
  let database: TestDatabase;
  let service: RunSearchService;
  beforeAll(async () => {
    database = await databaseWithRuns();
    service = new RunSearchService({ runs: runStorage(database) });
  }, scaled(120_000));
  afterAll(() => database[Symbol.asyncDispose]());

  const page = { sort_order: 'desc', limit: 1_000 } as const;
  const of = (filter: Record<string, string>) => AccessFilter.parse(filter);
  const walk = (request: RunSearch, access = everyRow) => walkRuns(service, request, access);

  it.each(['desc', 'asc'] as const)('of a range of time are returned once each, %s', async (sort_order) => {
    const range = { created_after: '2026-01-01T00:30:00Z', created_before: '2026-01-01T00:35:00Z' };
    // Pages that end among runs of the same time.
    const { all } = await walk({ ...page, ...range, sort_order, limit: 999 });
    expectInOrder(all, 3_000, sort_order);
  });

  it('are found by status without a scan', async () => {
    const { all, pages } = await walk({ ...page, status: ['error'] });
    expect(all).toEqual(Array.from({ length: 100 }, (_, at) => (100 - at) * 1_000));
    expect(pages).toBe(1);
  });

  it('end a page early when most do not match, and continue behind it', async () => {
    const first = await service.search({ ...page, metadata: { n: 5 } }, everyRow);
    expect(first).toMatchObject({ rows: [], limitedBy: 'rows' });
    expect((await walk({ ...page, metadata: { n: 5 } })).all).toEqual([5]);
  });

  it('are found in one page for a caller with few threads', async () => {
    const got = await service.search({ ...page, limit: 200 }, of({ owner: 'few' }));
    expect(numbersOf(got.rows).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 150 }, (_, at) => at + 1),
    );
    expect(got.next).toBeNull();
  });

  it('are found by id by callers who may read their threads', async () => {
    const idOf = (n: number): string => createHash('md5').update(`r${n}`).digest('hex');
    const numbers = async (run_id: string, access: AccessFilter) =>
      numbersOf((await service.search({ ...page, run_id }, access)).rows);
    expect(await numbers(idOf(150), of({ owner: 'few' }))).toEqual([150]);
    expect(await numbers(idOf(151), of({ owner: 'few' }))).toEqual([]);
    expect(await numbers(idOf(151), of({ team: 'all' }))).toEqual([151]);
  });

  it('are paged for a caller with few threads', async () => {
    const { all, pages } = await walk({ ...page, limit: 40 }, of({ owner: 'few' }));
    expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 150 }, (_, at) => at + 1));
    expect(pages).toBe(4);
  });

  it('are found for a caller with many threads', async () => {
    const got = await service.search({ ...page, limit: 3 }, of({ team: 'all' }));
    expect(numbersOf(got.rows)).toHaveLength(3);
    expect((await service.search({ ...page, limit: 3 }, of({ team: 'none' }))).rows).toEqual([]);
  });

  it('are read by the index of status and time', async () => {
    const rows = await database.query<{ 'QUERY PLAN': string }>(
      {
        name: 'plan_of_window',
        text: `explain select e.* from unnest(array['success', 'error']) s (status) cross join lateral (
        select r.run_id, r.thread_id, r.created_at from runs r
        where r.status = s.status and (r.created_at, r.thread_id, r.run_id) < ('2026-01-01T01:00:00Z'::timestamptz, md5('t1')::uuid, md5('r1')::uuid)
        order by r.created_at desc, r.thread_id desc, r.run_id desc limit 500) e`,
      },
      [],
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/runs_by_status/);
    expect(plan).not.toMatch(/Seq Scan/);
  });
});
