// Reads of changed runs among 100,000.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChangeScan } from '../../../src/deployment/runs/feed/change-scan.ts';
import { runStorage } from '../../../src/storage/deployment/runs.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { testDatabase, type TestDatabase } from '../../database.ts';
import { scaled } from '../../speed.ts';

describe('100,000 runs, of which 10,000 wait and 500 execute', () => {
  let db: TestDatabase;
  const startMs = Date.now() - 3_600_000;
  const place = (seconds: number): string => new Date(startMs + seconds * 1_000).toISOString();
  beforeAll(async () => {
    db = await testDatabase();
    // Groups of ten have the same time, as runs have that one statement has ended.
    const text = `insert into runs (run_id, thread_id, assistant_id, status, kwargs, lease_token, created_at, updated_at)
      select md5('r' || n)::uuid, md5('t' || n)::uuid, md5('a')::uuid,
        case when n % 10 = 0 then 'pending' when n % 200 = 1 then 'running' else 'success' end, '{}', (n % 10 <> 0)::integer,
        at, at
      from (select n, $1::timestamptz + (n / 10) * interval '0.1 s' as at from generate_series(1, 100000) n) s`;
    await db.query({ name: 'seed', text }, [place(0)]);
    await db.query({ name: 'analyze_runs', text: 'analyze runs' }, []);
  }, scaled(120_000));
  afterAll(() => db[Symbol.asyncDispose]());

  it('are read once each, in reads of any size, also where many have the same time', async () => {
    const runs = runStorage(db);
    for (const limit of [7, 1_000]) {
      const scan = new ChangeScan(runs, place(1_000), limit);
      const ids: string[] = [];
      for (let isComplete = false; !isComplete;) {
        const read = await scan.read();
        read.settle();
        ({ isComplete } = read);
        expect(read.changed.length).toBeLessThanOrEqual(limit);
        ids.push(...read.changed.map(({ run_id }) => run_id));
      }
      // From 30 seconds before the place on.
      expect(ids).toHaveLength(3_001);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('are read by indexes', async () => {
    const plans: string[] = [];
    const explaining: Database = {
      ...db,
      query: async (statement, values) => {
        const text = `explain (analyze, buffers, costs off) ${statement.text}`;
        const lines = await db.query<{ 'QUERY PLAN': string }>({ name: '', text }, values);
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
        return db.query(statement, values);
      },
    };
    const { rows } = await runStorage(explaining).listChanged({ updated_at: place(900) }, { limit: 1_000 });
    expect(rows).toHaveLength(1_000);
    expect(plans.join('\n')).toContain('runs_settled');
    expect(plans.join('\n')).not.toContain('Seq Scan on runs');
  });
});
