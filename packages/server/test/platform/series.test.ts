// Statistics over time: the intervals of a range together equal the statistics of the whole range.
import { randomUUID } from 'node:crypto';
import type { RunStats, RunStatsPoint, RunStatsSeries } from '@svc/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toScope } from '../../src/tracing/traces/run-scope.ts';
import { type SeriesSelection, toSeries } from '../../src/tracing/traces/trace-service.ts';
import { isByHour, sumHourIntervals, traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import type { Intervals, IntervalSums } from '../../src/storage/tracing/trace-run-sums.ts';
import { sumTraceRunIntervals, sumTraceRuns } from '../../src/storage/tracing/trace-sums.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { at, model, newNames, spans, step, toWrite } from './generated-writes.ts';
import { startPlatform } from './platform-server.ts';
import { fixture } from '../fixture.ts';

const daysKept = 30;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const counted = ['run_count', 'error_count', 'prompt_tokens', 'completion_tokens', 'total_tokens'] as const;
type Counted = Pick<RunStats, (typeof counted)[number]>;

/** The counts of all intervals together. */
const together = (points: readonly Counted[]): Counted =>
  Object.fromEntries(
    counted.map((name) => [name, points.reduce((sum, point) => sum + point[name], 0)]),
  ) as Counted;

const only = (sums: Counted): Counted =>
  Object.fromEntries(counted.map((name) => [name, sums[name]])) as Counted;

/** Without percentiles, which are exact or within 1 %, and without intervals of no trace runs. */
const exact = (sums: readonly IntervalSums[]): object[] =>
  sums
    .filter(({ run_count }) => run_count > 0)
    .toSorted((a, b) => a.at - b.at)
    .map((one) => {
      const { latency_p50: _, latency_p99: __, first_token_p50: ___, first_token_p99: ____, ...rest } = one;
      return rest;
    });

const intervalsIn = (selection: SeriesSelection): Intervals => {
  const { starts, seconds } = toSeries(selection, 0);
  return { first: starts[0] ?? Number.NaN, seconds };
};

describe('the sums of intervals', () => {
  const database = fixture(() => testDatabase());

  it('add up to the sum of the range, and are the same from hourly sums, after any writes', async () => {
    const traces = traceStorage(database);
    const hours = traceHourStorage(database);
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...spans),
        fc.constantFrom(1, 2, 3, 24),
        async (steps, [since, until], hoursEach) => {
          const names = newNames();
          for (const one of steps) {
            if (one === 'fold') await hours.fold(0, 1_000);
            else
              await traces.ingest(
                names.tenant_id,
                one.map((generated) => toWrite(generated, names)),
                [],
                daysKept,
              );
          }
          const range = { start_time: at(since ?? -60), end_time: at(until ?? 30) };
          const isLong = Date.parse(range.end_time) - Date.parse(range.start_time) > 10 * dayMs;
          const interval_seconds = (isLong ? 24 : hoursEach) * 3_600;
          const intervals = intervalsIn({ ...range, interval_seconds });
          for (const session of [names.projects.slice(0, 1), names.projects]) {
            const scope = toScope(names.tenant_id, { session, ...range });
            if (!isByHour(scope)) throw new Error('the scope has conditions other than projects and times');
            const found = await sumTraceRunIntervals(database, scope, intervals);
            expect(together(found)).toEqual(only(await sumTraceRuns(database, scope)));
            expect(exact(await sumHourIntervals(database, scope, intervals))).toEqual(exact(found));
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('from hourly sums have percentiles within 1 %', async () => {
    const names = newNames();
    const runs = Array.from({ length: 60 }, (_, index) => ({
      ...toWrite(
        { ...model, run: 0, parent: null, start: index % 3, tokens: null, lasted: 1 + index },
        names,
      ),
      id: randomUUID(),
    }));
    await traceStorage(database).ingest(names.tenant_id, runs, [], daysKept);
    await traceHourStorage(database).fold(0, 1_000);
    const range = { start_time: at(0), end_time: at(3) };
    const intervals = intervalsIn({ ...range, interval_seconds: 3_600 });
    const scope = toScope(names.tenant_id, { session: names.projects, ...range });
    if (!isByHour(scope)) throw new Error('the scope has conditions other than projects and times');
    const byInterval = (sums: IntervalSums[]) => sums.toSorted((a, b) => a.at - b.at);
    const wanted = byInterval(await sumTraceRunIntervals(database, scope, intervals));
    const found = byInterval(await sumHourIntervals(database, scope, intervals)).filter(
      (one) => one.run_count > 0,
    );
    expect(found).toHaveLength(3);
    for (const [index, one] of found.entries())
      for (const name of ['latency_p50', 'latency_p99'] as const)
        expect(Math.abs((one[name] ?? 0) / (wanted[index]?.[name] ?? 0) - 1)).toBeLessThanOrEqual(0.01);
  });

  it('come from hourly sums only above 10,000 trace runs, for intervals of whole hours', async () => {
    const names = newNames();
    const traces = traceStorage(database);
    const seconds = 1.234;
    const one = { ...model, run: 0, parent: null, start: 0.5, tokens: 1, lasted: seconds };
    const send = async (count: number): Promise<void> => {
      const runs = Array.from({ length: count }, () => ({ ...toWrite(one, names), id: randomUUID() }));
      await traces.ingest(names.tenant_id, runs, [], daysKept);
      await traceHourStorage(database).fold(0, 1_000);
    };
    const range = { start_time: at(0), end_time: at(3) };
    const sums = async (interval_seconds: number) => {
      const scope = toScope(names.tenant_id, { session: names.projects.slice(0, 1), ...range });
      const found = await traces.sumIntervals(scope, intervalsIn({ ...range, interval_seconds }));
      return found.filter(({ run_count }) => run_count > 0);
    };
    for (let sent = 0; sent < 10_000; sent += 2_500) await send(2_500);
    expect(await sums(3_600)).toMatchObject([{ run_count: 10_000, latency_p50: seconds }]);
    await send(1);
    const [byHour] = await sums(3_600);
    expect(byHour).toMatchObject({ run_count: 10_001, total_tokens: 10_001, at: Date.parse(at(0)) / 1_000 });
    expect(byHour?.latency_p50).not.toBe(seconds);
    expect(byHour?.latency_p50).toBeCloseTo(seconds, 1);
    expect(await sums(1_800)).toMatchObject([{ run_count: 10_001, latency_p50: seconds }]);
  });
});

describe('statistics over time', () => {
  const platform = fixture(() => startPlatform());

  interface Sent {
    project: string;
    start: string;
    parent?: string;
    run_type?: string;
    error?: string;
    seconds?: number;
    tokens?: number;
  }

  const send = async (runs: readonly Sent[]): Promise<string[]> => {
    const post = runs.map(({ project, start, parent, run_type = 'llm', error, seconds = 2, tokens = 7 }) => {
      const id = randomUUID();
      const after = (count: number) => new Date(Date.parse(start) + count * 1_000).toISOString();
      return {
        id,
        session_name: project,
        name: 'model',
        run_type,
        start_time: start,
        end_time: after(seconds),
        events: [{ name: 'new_token', time: after(seconds / 2) }],
        ...(parent === undefined ? {} : { parent_run_id: parent, trace_id: parent }),
        ...(error === undefined ? {} : { error }),
        outputs: { usage_metadata: { input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 } },
      };
    });
    expect((await platform.call('POST', '/runs/batch', { json: { post } })).status).toBe(202);
    return post.map(({ id }) => id);
  };

  const projectOf = async (name: string): Promise<string> => {
    const { body } = await platform.call('GET', `/sessions?name=${name}`);
    return (body as { id: string }[])[0]?.id ?? '';
  };

  const series = async (json: object): Promise<RunStatsSeries> => {
    const { status, body } = await platform.call('POST', '/runs/stats/series', { json });
    expect(status, JSON.stringify(body)).toBe(200);
    return body as RunStatsSeries;
  };
  const stats = async (json: object): Promise<RunStats> =>
    (await platform.call('POST', '/runs/stats', { json })).body as RunStats;
  const refusal = async (json: object): Promise<string> => {
    const { status, body } = await platform.call('POST', '/runs/stats/series', { json });
    expect(status).toBe(422);
    return JSON.stringify(body);
  };

  const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs);
  /** A time in that hour. */
  const minute = (count: number): string => new Date(hour.getTime() + count * 60_000).toISOString();
  const none: Omit<RunStatsPoint, 'start_time'> = {
    run_count: 0,
    error_count: 0,
    latency_p50: null,
    latency_p99: null,
    first_token_p50: null,
    first_token_p99: null,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    prompt_cost: null,
    completion_cost: null,
    total_cost: null,
  };

  it('have a point for each interval, also for those without trace runs', async () => {
    await send([
      { project: 'points', start: minute(1), seconds: 2 },
      { project: 'points', start: minute(9.99), seconds: 4, error: 'no' },
      { project: 'points', start: minute(20) },
    ]);
    const asked = { session: [await projectOf('points')], start_time: minute(0), end_time: minute(29) };
    const { points, ...rest } = await series({ ...asked, interval_seconds: 600 });
    expect(rest).toEqual({
      start_time: minute(0).replace('Z', '000Z'),
      end_time: minute(29).replace('Z', '000Z'),
      interval_seconds: 600,
    });
    expect(points).toEqual([
      {
        ...none,
        start_time: minute(0),
        run_count: 2,
        error_count: 1,
        latency_p50: 3,
        latency_p99: expect.closeTo(3.98) as number,
        first_token_p50: 1.5,
        first_token_p99: expect.closeTo(1.99) as number,
        prompt_tokens: 14,
        completion_tokens: 2,
        total_tokens: 16,
      },
      { ...none, start_time: minute(10) },
      expect.objectContaining({ start_time: minute(20), run_count: 1, total_tokens: 8 }),
    ]);
    expect(together(points)).toEqual(only(await stats(asked)));
  });

  it('count only trace runs within the range, also in the first and last interval', async () => {
    await send([1, 3, 5, 7].map((count) => ({ project: 'ends', start: minute(count) })));
    const session = [await projectOf('ends')];
    const asked = { session, start_time: minute(3), end_time: minute(5) };
    const { points } = await series({ ...asked, interval_seconds: 240 });
    // Intervals are counted from 1970, so the first one begins before the range.
    expect(points.map(({ start_time, run_count }) => [start_time, run_count])).toEqual([
      [minute(0), 1],
      [minute(4), 1],
    ]);
    expect(together(points)).toEqual(only(await stats(asked)));
  });

  it('take the filters of statistics, and count each token once', async () => {
    const project = 'filters';
    const [outer = ''] = await send([{ project, start: minute(1), seconds: 300 }]);
    await send([
      { project, start: minute(2), parent: outer, tokens: 5 },
      { project, start: minute(3), run_type: 'chain', error: 'no' },
    ]);
    const range = { session: [await projectOf(project)], start_time: minute(0), end_time: minute(59) };
    const filters = [
      {},
      { is_root: true },
      { error: true },
      { filter: 'gt(latency, "10s")' },
      { trace_filter: 'eq(run_type, "llm")' },
      { tree_filter: 'neq(error, null)' },
      { run_type: 'llm' },
      { trace: outer },
    ];
    for (const filter of filters) {
      const { points } = await series({ ...range, ...filter });
      expect(together(points), JSON.stringify(filter)).toEqual(only(await stats({ ...range, ...filter })));
    }
    expect(together((await series(range)).points)).toMatchObject({ run_count: 3, total_tokens: 8 });
    expect(await refusal({ ...range, filter: 'gt(name, 5)' })).toContain('gt() cannot be used with name');
  });

  it('include trace runs that started too early for a day partition', async () => {
    const old = new Date(Date.UTC(2001, 4, 6, 7)).toISOString();
    await send([{ project: 'old', start: old }]);
    const session = [await projectOf('old')];
    const asked = { session, start_time: '2001-05-05T00:00:00Z', end_time: '2001-05-08T00:00:00Z' };
    for (const interval_seconds of [86_400, 1_000]) {
      const { points } = await series({ ...asked, interval_seconds });
      expect(points.filter(({ run_count }) => run_count > 0)).toMatchObject([
        { run_count: 1, total_tokens: 8 },
      ]);
    }
    const { points } = await series({
      session,
      start_time: '1960-01-01T00:00:00Z',
      end_time: '2001-12-31T00:00:00Z',
    });
    expect(together(points).run_count).toBe(1);
    expect(points.length).toBeLessThanOrEqual(61);
  });

  it('are those of the last hour by default, by minute', async () => {
    const before = Date.now();
    await send([{ project: 'now', start: new Date(before - 60_000).toISOString() }]);
    const { points, interval_seconds, start_time, end_time } = await series({
      session: [await projectOf('now')],
    });
    expect(interval_seconds).toBe(60);
    expect(Date.parse(end_time) - Date.parse(start_time)).toBe(hourMs);
    expect(Date.parse(end_time)).toBeGreaterThanOrEqual(before);
    expect(points).toHaveLength(61);
    expect(together(points).run_count).toBe(1);
  });

  it('are refused with the reason when the range is empty or has too many intervals', async () => {
    const range = { start_time: minute(0), end_time: minute(60) };
    expect(await refusal({ start_time: minute(2), end_time: minute(1) })).toContain(
      'end_time must not be before the start',
    );
    expect(await refusal({ ...range, interval_seconds: 1 })).toContain(
      'The time has 3601 intervals of 1 s, and 500 are possible',
    );
    expect((await series({ ...range, interval_seconds: 8 })).points).toHaveLength(451);
    for (const interval_seconds of [0, -1, 1.5, 31_536_001, '60'])
      expect(await refusal({ ...range, interval_seconds })).toContain('interval_seconds');
    for (const end_time of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])
      expect((await series({ end_time })).points.length).toBeGreaterThan(0);
    const all = { start_time: '0001-01-01T00:00:00Z', end_time: '9999-12-31T23:59:59Z' };
    for (const filter of [{}, { session: [randomUUID()] }])
      expect((await series({ ...all, ...filter })).points.length).toBeLessThanOrEqual(61);
  });
});
