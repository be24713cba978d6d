// Searches of threads by the times of their creation, their last change, and the last change of their state.
import { randomUUID } from 'node:crypto';
import type { Thread } from '@svc/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import {
  threadStorage,
  type ThreadFilter,
  type ThreadPage,
} from '../../src/storage/deployment/threads/threads.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { startTestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const columns = ['created_at', 'updated_at', 'state_updated_at'] as const;
type Column = (typeof columns)[number];
const fieldsOf = (column: Column) => {
  const name = column.replace(/_at$/, '');
  return { after: `${name}_after`, before: `${name}_before` };
};
const other = { created_at: 'updated_at', updated_at: 'state_updated_at', state_updated_at: 'created_at' };

describe('a search of threads by time', () => {
  const server = fixture(() => startTestServer());
  const group = randomUUID();
  const ids: string[] = [];

  /** The threads have the times 12:00 to 12:05 of the column, each a minute and a microsecond after the one before. The others are equal. */
  const spread = (column: Column) =>
    server.database.query(
      {
        name: `spread_${column}`,
        text: `update threads t set ${column} = timestamptz '2026-01-02T12:00:00Z' + (n.at - 1) * interval '60.000001 s',
            ${columns.filter((name) => name !== column).join(` = timestamptz '2026-01-03T00:00:00Z', `)} = timestamptz '2026-01-03T00:00:00Z'
          from unnest($1::uuid[]) with ordinality n (thread_id, at) where t.thread_id = n.thread_id`,
      },
      [ids],
    );

  beforeAll(async () => {
    for (let at = 0; at < 6; at++) {
      const metadata = { group, parity: at % 2 };
      const { body } = await server.call('POST', '/threads', { metadata });
      ids.push((body as Thread).thread_id);
    }
    const run = { assistant_id: 'probe', input: { do: 'write', ms: 1 } };
    await server.call('POST', `/threads/${ids[1]}/runs/wait`, run);
    await server.call('POST', `/threads/${ids[4]}/runs/wait`, {
      assistant_id: 'probe',
      input: { do: 'throw' },
    });
  });

  const page = async (request: object) => {
    const body = { metadata: { group }, limit: 100, sort_order: 'asc', ...request };
    const answer = await server.call('POST', '/threads/search', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return {
      found: (answer.body as Thread[]).map(({ thread_id }) => ids.indexOf(thread_id)),
      total: answer.headers.get('x-pagination-total'),
      cursor: answer.headers.get('x-pagination-cursor'),
    };
  };
  /** Also checks the total of the page, and the count. */
  const found = async (filter: object, sort_by: Column): Promise<number[]> => {
    const { found, total } = await page({ ...filter, sort_by });
    const count = await server.call('POST', '/threads/count', { metadata: { group }, ...filter });
    expect([count.body, total]).toEqual([found.length, String(found.length)]);
    return found;
  };

  it.each(columns)('finds those from a time on, and those before a time: %s', async (column) => {
    await spread(column);
    const { after, before } = fieldsOf(column);
    const search = (filter: object) => found(filter, column);
    expect(await search({ [after]: '2026-01-02T12:02:00.000002Z' })).toEqual([2, 3, 4, 5]);
    expect(await search({ [after]: '2026-01-02T12:02:00.000003Z' })).toEqual([3, 4, 5]);
    expect(await search({ [before]: '2026-01-02T12:02:00.000002Z' })).toEqual([0, 1]);
    expect(await search({ [before]: '2026-01-02T12:02:00.000003Z' })).toEqual([0, 1, 2]);
    expect(await search({ [after]: '2026-01-02T13:01:30+01:00', [before]: '2026-01-02T12:04:00Z' })).toEqual([
      2, 3,
    ]);
    expect(await search({ [after]: '2026-01-02T12:04:00Z', [before]: '2026-01-02T12:04:00Z' })).toEqual([]);
    expect(await search({ [after]: null, [before]: null })).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('combines with other times, the status, metadata, ids and interrupts', async () => {
    await spread('created_at');
    const late = { created_after: '2026-01-02T12:01:00Z' };
    const search = (filter: object) => found({ ...late, ...filter }, 'created_at');
    expect(await search({ status: 'error' })).toEqual([4]);
    expect(await search({ status: 'error', created_before: '2026-01-02T12:03:00Z' })).toEqual([]);
    expect(await search({ metadata: { group, parity: 0 } })).toEqual([2, 4]);
    expect(await search({ ids: [ids[0], ids[3]] })).toEqual([3]);
    expect(await search({ has_interrupts: false })).toEqual([1, 2, 3, 4, 5]);
    expect(await search({ has_interrupts: true })).toEqual([]);
    expect(await search({ updated_after: '2026-01-03T00:00:00Z' })).toEqual([1, 2, 3, 4, 5]);
    expect(await search({ state_updated_before: '2026-01-03T00:00:00Z' })).toEqual([]);
    expect(await search({ values: { out: 'wrote' } })).toEqual([1]);
    expect(await search({ values: { out: 'wrote' }, created_before: '2026-01-02T12:01:00Z' })).toEqual([]);
  });

  it.each(columns)('has the same threads in pages by cursor: %s', async (column) => {
    await spread(column);
    const { after, before } = fieldsOf(column);
    const range = { [after]: '2026-01-02T12:01:00Z', [before]: '2026-01-02T12:05:00Z' };
    for (const sort_by of [column, other[column], 'thread_id', 'status'])
      for (const sort_order of ['asc', 'desc']) {
        const order = { sort_by, sort_order };
        const whole = (await page({ ...range, ...order })).found;
        expect(new Set(whole)).toEqual(new Set([1, 2, 3, 4]));
        const read: number[] = [];
        for (let cursor: string | undefined; ;) {
          const one = await page({
            ...range,
            ...order,
            limit: 2,
            ...(cursor === undefined ? {} : { cursor }),
          });
          read.push(...one.found);
          if (one.cursor === null) break;
          cursor = one.cursor;
        }
        expect(read).toEqual(whole);
      }
  });

  it.each([
    ['no time', 'yesterday'],
    ['a day that does not exist', '2026-02-30T00:00:00Z'],
    ['the year 0', '0000-01-01T00:00:00Z'],
    ['an offset that does not exist', '2026-01-01T00:00:00+25:00'],
    ['a number', 1_767_355_200_000],
  ])('is refused for %s', async (_, time) => {
    for (const path of ['/threads/search', '/threads/count'])
      for (const { after, before } of columns.map(fieldsOf))
        for (const field of [after, before]) {
          const { status, body } = await server.call('POST', path, { [field]: time });
          expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(field)]);
        }
  });
});

describe('100,000 threads', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase();
    // A thread each second, two of three of alice. They share a blob space, because an insert locks each space.
    await database.query(
      {
        name: 'seed_threads',
        text: `insert into threads (thread_id, blob_space, metadata, created_at, updated_at, state_updated_at)
          select id, md5('all')::uuid, jsonb_build_object('owner', case n % 3 when 0 then 'bob' else 'alice' end),
            at, at + interval '1 day', at + interval '2 days'
          from (select md5('t' || n)::uuid as id, n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 s' as at
            from generate_series(1, 100000) n) t`,
      },
      [],
    );
    await database.query({ name: 'analyze_threads', text: 'vacuum analyze threads' }, []);
  }, scaled(120_000));
  afterAll(() => database[Symbol.asyncDispose]());

  /** The plans of the statements that the storage sends. */
  const plansOf = async (read: (db: Database) => Promise<unknown>): Promise<string> => {
    const plans: string[] = [];
    const explaining: Database = {
      ...database,
      query: async (statement, values) => {
        const { name, text } = statement;
        const explain = { name: `explain_${name}`, text: `explain ${text}` };
        const rows = await database.query<{ 'QUERY PLAN': string }>(explain, values);
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
        return database.query(statement, values);
      },
    };
    await read(explaining);
    return plans.join('\n');
  };
  const order = (sort_by: Column): ThreadPage => ({ sort_by, sort_order: 'desc', limit: 50, offset: 0 });
  const ranges: [Column, string, ThreadFilter][] = [
    [
      'created_at',
      'threads_created',
      { created_after: '2026-01-01T10:00:00Z', created_before: '2026-01-01T10:10:00Z' },
    ],
    [
      'updated_at',
      'threads_updated',
      { updated_after: '2026-01-02T10:00:00Z', updated_before: '2026-01-02T10:10:00Z' },
    ],
    [
      'state_updated_at',
      'threads_state_updated',
      { state_updated_after: '2026-01-03T10:00:00Z', state_updated_before: '2026-01-03T10:10:00Z' },
    ],
  ];

  it.each(ranges)('are read in the order of %s by a range of %s', async (column, index, filter) => {
    const plan = await plansOf((db) => threadStorage(db).search(filter, order(column), everyRow, () => true));
    expect(plan).toMatch(new RegExp(`Index (Only )?Scan Backward using ${index} on threads`));
    expect(plan).toMatch(new RegExp(`Index Cond: \\(\\(${column} >= .* AND \\(${column} < `));
    expect(plan).not.toMatch(/Seq Scan on threads|Sort Key: threads/);
  });

  it.each(ranges)('are counted by a range of %s', async (_, index, filter) => {
    const plan = await plansOf(async (db) => {
      expect(await threadStorage(db).count(filter, everyRow)).toBe(600);
      expect(await threadStorage(db).countUpTo(filter, everyRow, 100)).toBe(100);
    });
    expect(plan).toMatch(new RegExp(`using ${index} on threads`));
    expect(plan).not.toMatch(/Seq Scan on threads/);
  });

  it('in a range are those that the caller may read', async () => {
    const filter = { created_after: '2026-01-01T10:00:00Z', created_before: '2026-01-01T10:10:00Z' };
    const access = AccessFilter.parse({ owner: 'bob' });
    expect(await threadStorage(database).count(filter, access)).toBe(200);
    const { rows } = await threadStorage(database).search(filter, order('created_at'), access, () => true);
    expect(rows).toHaveLength(50);
    expect(new Set(rows.map(({ metadata }) => metadata))).toEqual(new Set(['{"owner": "bob"}']));
  });
});
