// Writes of one run give the same row in every order and in every grouping into batches.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ingestLimits, JsonBudget } from '../../src/json/json-limits.ts';
import { foldAll } from '../../src/tracing/ingest/fold.ts';
import { readRun } from '../../src/tracing/ingest/read-json.ts';
import { toRunText } from '../../src/tracing/traces/run-text.ts';
import { type NewRunWrite, toRunWrite } from '../../src/tracing/ingest/run-write.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';

const daysKept = 400;
const tenant_id = randomUUID();
const database = fixture(() => testDatabase());
const traces = fixture(() => traceStorage(database));

type Fields = Record<string, unknown>;

/** A patch has `rank`, the time of its end in milliseconds; the post has none. */
type Write = Fields & { rank?: number };

const day = Date.parse('2026-11-20T10:00:00Z');

const toWrite = (id: string, { rank, ...fields }: Write): NewRunWrite => {
  const isPatch = rank !== undefined;
  const end = isPatch && rank > 1 ? { end_time: day + rank } : {};
  const body = Buffer.from(JSON.stringify({ id, ...fields, ...end }));
  const [sent] = readRun(body, isPatch ? 'patch' : 'post', undefined, new JsonBudget(ingestLimits)).runs;
  if (!sent) throw new Error('no run was parsed');
  return toRunWrite(sent);
};

/** Stores the batches one after the other and returns the run as clients read it, without its id. */
const store = async (batches: readonly Write[][]): Promise<Fields> => {
  const id = randomUUID();
  for (const batch of batches) {
    const writes = batch.map((write) => toWrite(id, write));
    await traces.ingest(tenant_id, foldAll(writes), [], daysKept);
  }
  const row = await traces.find(tenant_id, id);
  if (!row) throw new Error('the run was not stored');
  return JSON.parse(toRunText(row, {}).replaceAll(id, 'id')) as Fields;
};

const byRank = (writes: readonly Write[]): Write[] =>
  writes.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length <= 1
    ? [[...items]]
    : items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));

/** Every way to cut a list into consecutive batches. */
const groupings = <T>(items: readonly T[]): T[][][] => {
  const [first, ...rest] = items;
  if (first === undefined) return [[]];
  if (rest.length === 0) return [[[first]]];
  return groupings(rest).flatMap(([head = [], ...tail]) => [
    [[first], head, ...tail],
    [[first, ...head], ...tail],
  ]);
};

const word = fc.constantFrom('a', 'b', 'c');
const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const count = maybe(fc.nat(9));

const fields = {
  name: maybe(word),
  inputs: maybe(fc.record({ text: word })),
  outputs: maybe(
    fc.record({
      text: word,
      usage_metadata: maybe(
        fc.record({
          input_tokens: count,
          output_tokens: count,
          total_cost: maybe(fc.nat(5)),
          input_token_details: maybe(fc.record({ cache_read: fc.nat(3) })),
        }),
      ),
    }),
  ),
  error: maybe(word),
  tags: maybe(fc.array(word, { maxLength: 2 })),
  start_time: maybe(fc.nat(50).map((ms) => day + ms)),
  parent_run_id: maybe(fc.constantFrom(randomUUID(), randomUUID())),
  extra: maybe(
    fc.record({
      runtime: word,
      metadata: maybe(fc.dictionary(fc.constantFrom('x', 'y', 'z'), word, { noNullPrototype: true })),
    }),
  ),
};

/** Ranks are distinct: between writes of one rank the last to arrive has priority. */
const writesOf = (max: number): fc.Arbitrary<Write[]> =>
  fc
    .tuple(
      fc.record({ ...fields, start_time: fc.nat(50).map((ms) => day + ms) }),
      fc.uniqueArray(fc.tuple(fc.constantFrom(1, 10, 20, 30, 40), fc.record(fields)), {
        minLength: 1,
        maxLength: max - 1,
        selector: ([rank]) => rank,
      }),
    )
    .map(([post, patches]) => [post, ...patches.map(([rank, patch]): Write => ({ rank, ...patch }))]);

describe('writes of one run', () => {
  it('keep the newest value of each field when a patch of other fields is newer still', async () => {
    const patches: Write[] = [
      { rank: 10, inputs: { text: 'A' } },
      { rank: 20, outputs: { text: 'B' } },
      { rank: 15, inputs: { text: 'C' } },
    ];
    for (const order of permutations(patches))
      for (const batches of groupings(order)) {
        const run = await store(batches);
        expect(run['inputs'], JSON.stringify(batches)).toEqual({ text: 'C' });
        expect(run['outputs'], JSON.stringify(batches)).toEqual({ text: 'B' });
      }
  });

  it('keep the newest value of each metadata key', async () => {
    const patches: Write[] = [
      { rank: 10, extra: { metadata: { x: 'A' } } },
      { rank: 20, extra: { metadata: { y: 'B' } } },
      { rank: 15, extra: { metadata: { x: 'C' } } },
    ];
    for (const order of permutations(patches))
      for (const batches of groupings(order))
        expect((await store(batches))['extra'], JSON.stringify(batches)).toMatchObject({
          metadata: { x: 'C', y: 'B' },
        });
  });

  it('keep a start time that was sent, whatever the path of a patch implies', async () => {
    const id = randomUUID();
    const writes = [
      { start_time: day },
      { rank: 10, dotted_order: `20261120T100000000001Z${id}` },
    ] satisfies Write[];
    for (const order of permutations<Write>(writes)) {
      await database.script(`delete from trace_runs; delete from trace_run_days`);
      for (const write of order) await traces.ingest(tenant_id, [toWrite(id, write)], [], daysKept);
      expect((await traces.find(tenant_id, id))?.start_time).toBe('2026-11-20T10:00:00.000000Z');
    }
  });

  it('give the same run in every order and in every grouping into batches', async () => {
    await fc.assert(
      fc.asyncProperty(writesOf(3), async (writes) => {
        const expected = await store(byRank(writes).map((write) => [write]));
        for (const order of permutations(writes))
          for (const batches of groupings(order)) expect(await store(batches)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('give the same run in any order, however many there are and whatever is sent again', async () => {
    await fc.assert(
      fc.asyncProperty(writesOf(6), fc.infiniteStream(fc.nat()), async (writes, random) => {
        const expected = await store(byRank(writes).map((write) => [write]));
        const [first = 0, second = 0, ...cuts] = random.take(2 * writes.length + 3);
        const repeated = [...writes, writes[first % writes.length]!, writes[second % writes.length]!];
        const order = repeated
          .map((write, at) => ({ write, place: (cuts[at] ?? 0) % 1_000 }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ write }) => write);
        const batches: Write[][] = [[]];
        for (const [at, write] of order.entries()) {
          if ((cuts[at] ?? 0) % 2 === 0) batches.push([]);
          batches.at(-1)!.push(write);
        }
        expect(await store(batches.filter((batch) => batch.length > 0))).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });
});
