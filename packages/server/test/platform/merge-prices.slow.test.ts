// The cost and the project of a run do not depend on the order in which its writes arrive.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { ingestLimits, JsonBudget } from '../../src/json/json-limits.ts';
import { PriceService } from '../../src/tracing/prices/price-service.ts';
import { ProjectService } from '../../src/tracing/projects/project-service.ts';
import { Admission } from '../../src/tracing/ingest/admission.ts';
import { RunStore } from '../../src/tracing/ingest/run-store.ts';
import { toRunBatch } from '../../src/tracing/ingest/ingest-task.ts';
import { readRun } from '../../src/tracing/ingest/read-json.ts';
import { emptyBatch } from '../../src/tracing/ingest/read-parts.ts';
import { Rejections, type SentRun } from '../../src/tracing/ingest/sent-run.ts';
import { toRunText } from '../../src/tracing/traces/run-text.ts';
import { modelPriceStorage } from '../../src/storage/tracing/model-prices.ts';
import { projectStorage } from '../../src/storage/tracing/projects.ts';
import { traceStorage, type TraceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { sql } from '../exports/export-tables.ts';
import { fixture } from '../fixture.ts';

const tenant_id = randomUUID();
const database = fixture(() => testDatabase());
let traces: TraceStorage;
let runStore: RunStore;
beforeAll(async () => {
  await sql(database, `insert into workspaces (id, display_name) values ($1, 'w')`, [tenant_id]);
  traces = traceStorage(database);
  const prices = new PriceService(modelPriceStorage(database));
  const price = { match_pattern: '^one$', prompt_cost: '1', completion_cost: '1' };
  await prices.create(tenant_id, { name: 'one', ...price, prompt_cost_details: { cache_read: '0.5' } });
  await prices.create(tenant_id, { name: 'two', ...price, match_pattern: '^two$', prompt_cost: '10' });
  await prices.create(tenant_id, { name: 'house', ...price, provider: 'house', prompt_cost: '100' });
  const since = '2026-11-20T10:00:00.010Z';
  await prices.create(tenant_id, { name: 'later', ...price, start_time: since, match_pattern: '^two$' });
  const admission = new Admission({ bytesMax: Infinity, writersMax: 1, waitingMax: 1 });
  const projects = new ProjectService(projectStorage(database));
  runStore = new RunStore({ traces, projects, prices, admission, daysKept: 400, onRefused: () => {} });
});

type Write = Record<string, unknown> & { rank?: number };

const day = Date.parse('2026-11-20T10:00:00Z');

const toSent = (id: string, { rank, ...fields }: Write): SentRun => {
  const end = rank === undefined ? {} : { end_time: day + rank };
  const body = Buffer.from(JSON.stringify({ id, ...fields, ...end }));
  const operation = rank === undefined ? 'post' : 'patch';
  const [sent] = readRun(body, operation, undefined, new JsonBudget(ingestLimits)).runs;
  if (!sent) throw new Error('no run was parsed');
  return sent;
};

const store = async (batches: readonly Write[][]): Promise<unknown> => {
  const id = randomUUID();
  for (const batch of batches) {
    const runs = batch.map((write) => toSent(id, write));
    const rejections = new Rejections();
    await runStore.store(tenant_id, toRunBatch({ ...emptyBatch(), runs, rejections }));
    expect(rejections.count).toBe(0);
  }
  const row = await traces.find(tenant_id, id);
  if (!row) throw new Error('the run was not stored');
  return JSON.parse(toRunText(row, {}).replaceAll(id, 'id'));
};

const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const fields = {
  session_name: maybe(fc.constantFrom('p', 'q')),
  outputs: maybe(
    fc.record({
      usage_metadata: fc.record({
        input_tokens: fc.nat(9),
        output_tokens: fc.nat(9),
        total_cost: fc.option(fc.nat(5), { nil: undefined, freq: 5 }),
        input_token_details: maybe(fc.record({ cache_read: fc.nat(3) })),
      }),
    }),
  ),
  extra: maybe(
    fc.record({
      metadata: fc.record({
        ls_model_name: fc.constantFrom('one', 'two', 'none'),
        ls_provider: maybe(fc.constantFrom('house', 'other')),
      }),
    }),
  ),
};

const writes: fc.Arbitrary<Write[]> = fc
  .tuple(
    fc.record({
      ...fields,
      run_type: fc.constantFrom('llm', 'chain'),
      start_time: fc.constantFrom(day, day + 20),
    }),
    fc.uniqueArray(fc.tuple(fc.constantFrom(10, 20, 30, 40), fc.record(fields)), {
      minLength: 1,
      maxLength: 3,
      selector: ([rank]) => rank,
    }),
  )
  .map(([post, patches]) => [post, ...patches.map(([rank, patch]): Write => ({ rank, ...patch }))]);

it('a run has the same cost and project for any order and batches of its writes', async () => {
  await fc.assert(
    fc.asyncProperty(writes, fc.infiniteStream(fc.nat()), async (all, random) => {
      const expected = await store([all]);
      for (let time = 0; time < 4; time++) {
        const places = [...random.take(all.length)];
        const cuts = [...random.take(all.length)];
        const order = all
          .map((write, at) => ({ write, place: (places[at] ?? 0) % 1_000 }))
          .toSorted((a, b) => a.place - b.place);
        const batches: Write[][] = [[]];
        for (const [at, { write }] of order.entries()) {
          if ((cuts[at] ?? 0) % 2 === 0) batches.push([]);
          batches.at(-1)?.push(write);
        }
        const run = await store(batches.filter((batch) => batch.length > 0));
        expect(run, JSON.stringify(batches)).toEqual(expected);
      }
    }),
    { numRuns: 60 },
  );
});
