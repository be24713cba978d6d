// 100,000 runs of 2,000 threads, created by SQL, and searches through all of their pages.
import { expect } from 'vitest';
import type { RunSearchService } from '../../src/deployment/runs/run-search-service.ts';
import type { RowFilter } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase, type TestDatabase } from '../database.ts';

export type RunSearch = Parameters<RunSearchService['search']>[0];

export const databaseWithRuns = async (): Promise<TestDatabase> => {
  const database = await testDatabase();
  // Every thread is of the user "all"; three of them are of "few" too, whose runs are the oldest.
  await database.query(
    {
      name: 'seed_threads',
      text: `insert into threads (thread_id, blob_space, metadata)
        select id, id, case when n <= 3 then '{"team": "all", "owner": "few"}'::jsonb else '{"team": "all"}' end
        from (select n, md5('t' || n)::uuid as id from generate_series(1, 2000) n) t`,
    },
    [],
  );
  // Fifty runs of each thread; groups of ten have the same time, as runs of a batch have.
  await database.query(
    {
      name: 'seed_runs',
      text: `insert into runs (run_id, thread_id, assistant_id, status, kwargs, metadata, created_at)
        select md5('r' || n)::uuid, md5('t' || ((n - 1) / 50 + 1))::uuid, md5('a')::uuid,
          case when n % 1000 = 0 then 'error' else 'success' end, '{}', jsonb_build_object('n', n),
          timestamptz '2026-01-01T00:00:00Z' + (n / 10) * interval '1 s'
        from generate_series(1, 100000) n`,
    },
    [],
  );
  await database.query({ name: 'analyze_runs', text: 'analyze runs' }, []);
  await database.query({ name: 'analyze_threads', text: 'analyze threads' }, []);
  return database;
};

/** The numbers of the runs, in the order of their creation. */
export const numbersOf = (rows: string[]): number[] =>
  rows.map((row) => (JSON.parse(row) as { metadata: { n: number } }).metadata.n);

export const walkRuns = async (
  service: RunSearchService,
  request: RunSearch,
  access: RowFilter,
): Promise<{ all: number[]; pages: number }> => {
  const all: number[] = [];
  let pages = 0;
  let cursor: string | null | undefined;
  do {
    const got = await service.search({ ...request, ...(cursor ? { cursor } : {}) }, access);
    all.push(...numbersOf(got.rows));
    cursor = got.next;
    pages++;
  } while (cursor);
  return { all, pages };
};

/** Expects as many different runs, in the order of their times. */
export const expectInOrder = (numbers: number[], count: number, sort_order: 'asc' | 'desc'): void => {
  expect(new Set(numbers).size).toBe(count);
  expect(numbers).toHaveLength(count);
  const times = numbers.map((n) => Math.floor(n / 10));
  expect(times).toEqual(times.toSorted((a, b) => (sort_order === 'asc' ? a - b : b - a)));
};
