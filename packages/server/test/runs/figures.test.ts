// POST /runs/figures: runs over time.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunFigures } from '@svc/contract';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { RunFigureService } from '../../src/deployment/runs/run-figure-service.ts';
import { figureRunsMax } from '../../src/storage/deployment/runs/run-figures.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { testDatabase } from '../database.ts';
import { startTestServer } from '../server.ts';
import { scaled } from '../speed.ts';
import { fixture } from '../fixture.ts';

const hour = { from: '2026-01-01T10:00:00.000Z', to: '2026-01-01T11:00:00.000Z' };
const counts = ({ success, error, timeout, interrupted }: RunFigures['points'][number]) => [
  success,
  error,
  timeout,
  interrupted,
];

describe('figures of stored runs', () => {
  const database = fixture(() => testDatabase());
  const service = fixture(() => new RunFigureService({ runs: runStorage(database) }));
  beforeAll(async () => {
    await database.script(`insert into threads (thread_id, blob_space, metadata)
      select md5('t' || n)::uuid, md5('t' || n)::uuid, jsonb_build_object('owner', 'user' || n) from generate_series(0, 1) n`);
  });

  /** Seconds after ten: of the creation, the start of the first attempt, and the end; of two threads in turns. */
  const store = async (
    runs: { made: number; started?: number; ended?: number; status: string; lost?: number; delay?: number }[],
  ): Promise<void> => {
    await database.script('delete from runs');
    for (const [at, { made, started, ended, status, lost, delay = 0 }] of runs.entries()) {
      const time = (seconds: number | undefined) =>
        seconds === undefined ? 'null' : `timestamptz '${hour.from}' + ${seconds} * interval '1 s'`;
      const losses =
        lost === undefined ? `'[]'` : `jsonb_build_array(jsonb_build_object('started_at', ${time(lost)}))`;
      await database.script(`insert into runs (run_id, thread_id, assistant_id, status, kwargs, metadata, lease_token,
          created_at, not_before, started_at, updated_at, lost_attempts)
        values (gen_random_uuid(), md5('t${at % 2}')::uuid, md5('a')::uuid, '${status}', '{}', '{"n": ${at}}', ${started === undefined ? 0 : 1},
          ${time(made)}, ${time(made + delay)}, ${time(started)}, ${time(ended ?? started ?? made)}, ${losses})`);
    }
  };

  it('count runs in the interval of their end, and creations in that of the creation', async () => {
    await store([
      { made: 10, started: 10, ended: 50, status: 'success' },
      { made: 10, started: 10, ended: 70, status: 'error' },
      { made: 59, started: 100, ended: 119, status: 'timeout' },
      { made: 100, ended: 101, status: 'interrupted' },
      { made: 110, started: 111, status: 'running' },
      { made: 115, status: 'pending' },
      { made: -1, started: -1, ended: 3_600, status: 'success' },
    ]);
    const figures = await service.read(hour, everyRow);
    expect(figures).toMatchObject({ ...hour, interval_seconds: 60, complete: true, since: hour.from });
    expect(figures.points).toHaveLength(60);
    expect(figures.points.map(({ created }) => created).slice(0, 3)).toEqual([3, 3, 0]);
    expect(figures.points.map(counts).slice(0, 3)).toEqual([
      [1, 0, 0, 0],
      [0, 1, 1, 1],
      [0, 0, 0, 0],
    ]);
    expect(figures.points[1]?.at).toBe('2026-01-01T10:01:00.000Z');
  });

  it('have the median and the 95th percentile of waits and executions', async () => {
    await store([
      { made: 0, started: 1, ended: 3, status: 'success' },
      { made: 0, started: 3, ended: 7, status: 'success' },
      // Its delay is not waiting.
      { made: 0, delay: 10, started: 12, ended: 15, status: 'success' },
      // The time between its attempts is part of the execution.
      { made: 0, lost: 2, started: 40, ended: 50, status: 'error' },
      // It was cancelled before it started.
      { made: 0, ended: 30, status: 'interrupted' },
    ]);
    const [point] = (await service.read(hour, everyRow)).points;
    expect(point?.wait_ms?.p50).toBe(2_000);
    expect(point?.wait_ms?.p95).toBeCloseTo(2_850);
    expect(point?.execution_ms?.p50).toBe(3_500);
    expect(point?.execution_ms?.p95).toBeCloseTo(41_400);
  });

  it('are of the runs that the filter and the caller name', async () => {
    await store([
      { made: 0, started: 0, ended: 1, status: 'success' },
      { made: 0, started: 0, ended: 1, status: 'success' },
      { made: 0, started: 0, ended: 1, status: 'error' },
    ]);
    const found = async (search: object, access = everyRow) => {
      const [point] = (await service.read({ ...hour, ...search }, access)).points;
      return point && [...counts(point), point.created];
    };
    expect(await found({})).toEqual([2, 1, 0, 0, 3]);
    expect(await found({}, AccessFilter.parse({ owner: 'user1' }))).toEqual([1, 0, 0, 0, 1]);
    expect(await found({}, AccessFilter.parse({ owner: 'nobody' }))).toEqual([0, 0, 0, 0, 0]);
    expect(await found({ status: ['error'] })).toEqual([0, 1, 0, 0, 1]);
    await database.script('update runs set temporary = true');
    expect(await found({})).toEqual([0, 0, 0, 0, 0]);
    await database.script('update runs set temporary = false');
    expect(await found({ metadata: { n: 1 } })).toEqual([1, 0, 0, 0, 1]);
    expect(await found({ assistant_id: randomUUID() })).toEqual([0, 0, 0, 0, 0]);
  });

  it(
    'are of the newest runs when there are more than one statement examines, which they say',
    async () => {
      await database.script('delete from runs');
      await database.script(`insert into runs (run_id, thread_id, assistant_id, status, kwargs, lease_token, created_at, started_at, updated_at)
      select md5('r' || n)::uuid, md5('t0')::uuid, md5('a')::uuid, 'success', '{}', 1, at, at, at
      from (select n, timestamptz '${hour.from}' + n * interval '30 ms' as at from generate_series(1, ${figureRunsMax + 5_000}) n) s`);
      await database.script('analyze runs');
      const figures = await service.read(hour, everyRow);
      expect(figures).toMatchObject({ complete: false, since: '2026-01-01T10:03:00.000Z' });
      expect(figures.points.map(({ success }) => success).slice(0, 4)).toEqual([0, 0, 0, 2_000]);
      const total = figures.points.reduce((sum, { success }) => sum + success, 0);
      expect(total).toBe(figureRunsMax - 999);
      const narrow = await service.read({ ...hour, to: '2026-01-01T10:20:00.000Z' }, everyRow);
      expect(narrow.complete).toBe(true);
    },
    scaled(60_000),
  );
});

describe('POST /runs/figures', () => {
  const server = fixture(() => startTestServer({ executors: 'ready' }));

  const figures = async (body?: object) => {
    const answer = await server.call('POST', '/runs/figures', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body as RunFigures;
  };

  it('has the last hour by minutes, with what just ended', async () => {
    const thread = { assistant_id: 'chat', input: { messages: [] }, if_not_exists: 'create' };
    await server.call('POST', `/threads/${randomUUID()}/runs/wait`, thread);
    const found = await figures();
    expect(found).toMatchObject({ interval_seconds: 60, complete: true });
    expect([60, 61]).toContain(found.points.length);
    const newest = found.points.findLast(({ success }) => success > 0);
    expect(newest).toMatchObject({ success: 1, wait_ms: { p50: 0 } });
    expect(newest?.execution_ms?.p50).toBeGreaterThan(0);
  });

  it.each([
    ['a day that does not exist', { from: '2026-02-30T00:00:00Z' }, /from/],
    ['an end before the start', { from: hour.to, to: hour.from }, /to must be later/],
    ['too many intervals', { ...hour, interval_seconds: 1 }, /3600 intervals/],
    ['an interval without length', { ...hour, interval_seconds: 0 }, /interval_seconds/],
    ['the times of a search', { created_after: hour.from }, /created_after/],
    ['a time before the year 1', { to: '0001-01-01T00:00:00+14:00' }, /to: must be a time in the years/],
    ['a time after the year 9999', { to: '9999-12-31T23:59:59-14:00' }, /to: must be a time in the years/],
  ])('refuses %s', async (_, body, message) => {
    const answer = await server.call('POST', '/runs/figures', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(422);
    expect(JSON.stringify(answer.body)).toMatch(message);
  });
});
