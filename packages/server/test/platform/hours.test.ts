// Hourly sums compared with counts of the runs, for writes in any order.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toScope } from '../../src/tracing/traces/run-scope.ts';
import { ownTraceStorage } from '../../src/storage/tracing/own-traces.ts';
import { isByHour, sumHours, traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { sumTraceRuns } from '../../src/storage/tracing/trace-sums.ts';
import type { TraceRunSums } from '../../src/storage/tracing/trace-run-sums.ts';
import type { TraceRunScope } from '../../src/storage/tracing/trace-scope.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import {
  at,
  batch,
  dayMs,
  midnight,
  model,
  type Names,
  newNames,
  type Span,
  spans,
  step,
  toWrite,
} from './generated-writes.ts';
import { fixture } from '../fixture.ts';

const daysKept = 30;
const database = fixture(() => testDatabase());
const traces = fixture(() => traceStorage(database));
const hours = fixture(() => traceHourStorage(database));

const exact = (sums: TraceRunSums): Partial<TraceRunSums> => {
  const { latency_p50: _, latency_p99: __, first_token_p50: ___, first_token_p99: ____, ...rest } = sums;
  return rest;
};

/** Compares the sums of a project and of all projects, with and without the span. */
const expectSame = async ({ tenant_id, projects: all }: Names, span: Span = [0, null]): Promise<void> => {
  for (const session of [[all[0] ?? ''], all])
    for (const [since, until] of [[null, null], span] satisfies Span[]) {
      const scope = toScope(tenant_id, {
        session,
        start_time: since === null ? undefined : at(since),
        end_time: until === null ? undefined : at(until),
      });
      const [found, wanted] = [await byHour(scope), await sumTraceRuns(database, scope)];
      expect(exact(found)).toEqual(exact(wanted));
    }
};

const byHour = (scope: TraceRunScope): Promise<TraceRunSums> => {
  if (!isByHour(scope)) throw new Error('the scope has conditions other than projects and times');
  return sumHours(database, scope);
};

const written = async ({ tenant_id }: Names): Promise<number> => {
  const text = 'select count(*) as count from trace_hours where tenant_id = $1';
  const [row] = await database.query<{ count: number }>({ name: 'written', text }, [tenant_id]);
  return row?.count ?? 0;
};

const changes = async ({ tenant_id }: Names): Promise<number> => {
  const text = 'select count(*) as count from trace_hour_changes where tenant_id = $1';
  const [row] = await database.query<{ count: number }>({ name: 'changes', text }, [tenant_id]);
  return row?.count ?? 0;
};

describe('hourly sums', () => {
  it('equal the sums of the runs after any writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...spans),
        async (steps, span) => {
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
          await expectSame(names, span);
          await hours.fold(0, 1_000);
          expect(await changes(names)).toBe(0);
          await expectSame(names, span);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('equal the sums of the runs after concurrent batches', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 4, maxLength: 8 }), async (batches) => {
        const names = newNames();
        await Promise.all(
          batches.map((one) =>
            traces.ingest(
              names.tenant_id,
              one.map((generated) => toWrite(generated, names)),
              [],
              daysKept,
            ),
          ),
        );
        await hours.fold(0, 1_000);
        await expectSame(names);
      }),
      { numRuns: 25 },
    );
  });

  it('have percentiles within 1 %', async () => {
    const seconds = fc.double({ min: 0.001, max: 80_000, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(seconds, { minLength: 1, maxLength: 50 }), async (latencies) => {
        const names = newNames();
        const runs = latencies.map((lasted) => ({
          ...toWrite(
            { ...model, run: 0, parent: null, start: 0, tokens: null, lasted, firstToken: lasted },
            names,
          ),
          id: randomUUID(),
        }));
        await traces.ingest(names.tenant_id, runs, [], daysKept);
        const scope = toScope(names.tenant_id, { session: [names.projects[0] ?? ''] });
        const [found, wanted] = [await byHour(scope), await sumTraceRuns(database, scope)];
        for (const name of ['latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99'] as const)
          expect(Math.abs((found[name] ?? 0) / (wanted[name] ?? 0) - 1)).toBeLessThanOrEqual(0.01);
      }),
      { numRuns: 25 },
    );
  });

  it('are counted from the runs while these arrive, and stored afterwards', async () => {
    const names = newNames();
    const one = toWrite({ ...model, run: 0, parent: null, start: 0.5, tokens: 10 }, names);
    await traces.ingest(names.tenant_id, [one], [], daysKept);
    expect(await hours.fold(3_600, 1_000)).toBe(0);
    expect(await written(names)).toBe(0);
    await expectSame(names);
    await hours.fold(0, 1_000);
    expect([await written(names), await changes(names)]).toEqual([1, 0]);
    await traces.ingest(names.tenant_id, [one], [], daysKept);
    expect(await changes(names)).toBe(0);
  });

  it('include a parent that arrives when the hour of its child is already stored', async () => {
    const names = newNames();
    const inner = toWrite({ ...model, run: 1, parent: 0, start: 1.05, tokens: 10 }, names);
    const outer = toWrite({ ...model, run: 0, parent: null, start: 0.99, lasted: 9_000, tokens: 10 }, names);
    const scope = toScope(names.tenant_id, { session: [names.projects[0] ?? ''] });
    for (const [write, run_count] of [
      [inner, 1],
      [outer, 2],
    ] as const) {
      await traces.ingest(names.tenant_id, [write], [], daysKept);
      await hours.fold(0, 1_000);
      expect(await byHour(scope)).toMatchObject({ run_count, total_tokens: 10 });
    }
    await expectSame(names);
  });

  it('follow a trace that is ended after the loss of its executor, when they are already stored', async () => {
    const names = newNames();
    const root = names.runs[0] ?? '';
    const outer = toWrite({ ...model, run: 0, parent: null, start: 0.99, lasted: null, tokens: 10 }, names);
    const inner = toWrite({ ...model, run: 1, parent: 0, start: 1.5, tokens: 10 }, names);
    await ownTraceStorage(database).addPending(names.tenant_id, [{ id: root, run_id: root }]);
    await traces.ingest(names.tenant_id, [outer, inner], [], daysKept);
    await hours.fold(0, 1_000);
    const scope = toScope(names.tenant_id, { session: [names.projects[0] ?? ''] });
    expect(await byHour(scope)).toMatchObject({ error_count: 0, total_tokens: 20 });
    expect(await tracePartitionStorage(database).endLost(0, 100)).toBe(1);
    expect(await byHour(scope)).toMatchObject({ error_count: 1, total_tokens: 10 });
    await expectSame(names);
    await hours.fold(0, 1_000);
    await expectSame(names);
  });

  it('follow the removal of expired days, also for parents on the day before', async () => {
    const names = newNames();
    const outer = toWrite({ ...model, run: 0, parent: null, start: -0.01, tokens: 10 }, names);
    const inner = toWrite({ ...model, run: 1, parent: 0, start: 0, tokens: 10 }, names);
    await traces.ingest(names.tenant_id, [outer, inner], [], daysKept);
    await hours.fold(0, 1_000);
    const scope = toScope(names.tenant_id, { session: [names.projects[0] ?? ''] });
    expect(await byHour(scope)).toMatchObject({ run_count: 2, total_tokens: 10 });
    const partitions = tracePartitionStorage(database);
    // The day before that of the runs, which may be yesterday by now.
    const kept = Math.floor((Date.now() - midnight) / dayMs);
    while (await partitions.dropOldest(kept)) await expectSame(names);
    expect(await byHour(scope)).toMatchObject({ run_count: 1, total_tokens: 10 });
    await hours.fold(0, 1_000);
    expect(await written(names)).toBe(1);
    await expectSame(names);
  });
});
