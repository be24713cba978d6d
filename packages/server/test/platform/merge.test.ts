// Writes of a run merge to the same row in any order, together or apart, once or twice.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ingestLimits, JsonBudget } from '../../src/json/json-limits.ts';
import { foldAll } from '../../src/tracing/ingest/fold.ts';
import { type NewRunWrite, toRunWrite } from '../../src/tracing/ingest/run-write.ts';
import { readRun } from '../../src/tracing/ingest/read-json.ts';
import { toRunText } from '../../src/tracing/traces/run-text.ts';
import { traceStorage, type TraceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';

const daysKept = 400;
const tenant_id = randomUUID();
let database: TestDatabase;
let traces: TraceStorage;
beforeAll(async () => {
  database = await testDatabase();
  traces = traceStorage(database);
});
afterAll(() => database[Symbol.asyncDispose]());

type Fields = Record<string, unknown>;

const toWrite = (operation: 'post' | 'patch', run: Fields): Promise<NewRunWrite> => {
  const body = Buffer.from(JSON.stringify(run));
  const [sent] = readRun(body, operation, undefined, new JsonBudget(ingestLimits)).runs;
  if (!sent) throw new Error('no run was parsed');
  return Promise.resolve(toRunWrite(sent));
};

const read = async (id: string): Promise<Fields> => {
  const row = await traces.find(tenant_id, id);
  if (!row) throw new Error('there is no such run');
  return JSON.parse(toRunText(row, {})) as Fields;
};

const maybe = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(values, { nil: undefined });
const word = fc.constantFrom('a', 'b', 'c\0', '\ud800');
const fields = {
  name: maybe(word),
  inputs: maybe(fc.record({ text: word })),
  outputs: maybe(
    fc.record({
      text: word,
      usage_metadata: fc.record({ input_tokens: fc.nat(9), output_tokens: fc.nat(9) }),
    }),
  ),
  error: maybe(word),
  events: maybe(fc.constant([{ name: 'new_token', time: '2026-11-20T10:00:01Z' }])),
  tags: maybe(fc.array(word, { maxLength: 2 })),
  extra: maybe(
    fc.record({
      runtime: word,
      metadata: fc.dictionary(fc.constantFrom('x', 'y', 'thread_id'), word, { noNullPrototype: true }),
    }),
  ),
};
const post = fc.record({ ...fields, start_time: fc.constant('2026-11-20T10:00:00.000001Z') });
const patch = fc.record(fields);
const last = fc.record({ ...fields, end_time: fc.constantFrom('2026-11-20T10:00:02Z', 1_795_000_000_000) });

describe('writes of a trace run', () => {
  it('merge to the same row in any order, and when they are repeated', async () => {
    await fc.assert(
      fc.asyncProperty(
        post,
        last,
        fc.shuffledSubarray([0, 1, 0, 1], { minLength: 4 }),
        async (posted, ended, order) => {
          const expected = randomUUID();
          const shuffled = randomUUID();
          const writes = (id: string) =>
            Promise.all([toWrite('post', { id, ...posted }), toWrite('patch', { id, ...ended })]);
          for (const write of await writes(expected)) await traces.ingest(tenant_id, [write], [], daysKept);
          const [first, second] = await writes(shuffled);
          for (const index of order)
            await traces.ingest(tenant_id, [index === 0 ? first : second], [], daysKept);
          const [run, wanted] = [await read(shuffled), await read(expected)];
          const { id, trace_id, dotted_order, app_path } = run;
          expect(run).toEqual({ ...wanted, id, trace_id, dotted_order, app_path });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('merge to the same row in one batch as one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(post, patch, last), { minLength: 2, maxLength: 4 }),
        async (generated) => {
          const apart = randomUUID();
          const together = randomUUID();
          const writes = (id: string) =>
            Promise.all(
              generated.map((one) => toWrite('start_time' in one ? 'post' : 'patch', { id, ...one })),
            );
          for (const write of await writes(apart)) await traces.ingest(tenant_id, [write], [], daysKept);
          await traces.ingest(tenant_id, foldAll(await writes(together)), [], daysKept);
          // Without any time, a run has started when its first write arrived.
          const hasTime = generated.some((one) => 'start_time' in one || 'end_time' in one);
          const texts = [await read(apart), await read(together)].map((run) =>
            JSON.stringify(hasTime ? run : { ...run, start_time: 'arrival' })
              .replaceAll(apart, 'id')
              .replaceAll(together, 'id'),
          );
          expect(texts[1]).toBe(texts[0]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('change nothing when they are repeated, not even the time of the last change', async () => {
    const id = randomUUID();
    const writes = [
      await toWrite('post', { id, start_time: '2026-11-20T10:00:00Z', inputs: { a: 1 } }),
      await toWrite('patch', { id, end_time: '2026-11-20T10:00:01Z', outputs: { b: 2 } }),
    ];
    const changed = async (): Promise<unknown> =>
      database.query(
        { name: 'changed', text: 'select xmin::text, updated_at from trace_runs where id = $1' },
        [id],
      );
    for (const write of writes) await traces.ingest(tenant_id, [write], [], daysKept);
    const before = await changed();
    for (const write of writes.toReversed()) await traces.ingest(tenant_id, [write], [], daysKept);
    expect(await changed()).toEqual(before);
  });

  it('merge to one row when concurrent batches contain the same runs', async () => {
    const ids = Array.from({ length: 50 }, () => randomUUID());
    const batch = await Promise.all(
      ids.map((id) => toWrite('post', { id, start_time: '2026-11-19T23:59:59Z' })),
    );
    const ends = await Promise.all(
      ids.map((id) => toWrite('patch', { id, end_time: '2026-11-20T00:00:01Z' })),
    );
    await Promise.all(
      [batch, ends, batch.toReversed(), ends.toReversed()].map((one) =>
        traces.ingest(tenant_id, one, [], daysKept),
      ),
    );
    const rows = await database.query<{ status: string }>(
      { name: 'many', text: 'select status from trace_runs where id = any ($1)' },
      [ids],
    );
    expect(rows).toEqual(ids.map(() => ({ status: 'success' })));
  });
});

describe('a run that only names its parent', () => {
  it('gets its path when the parent arrives, and so do its descendants', async () => {
    const [root, child, grandchild] = [randomUUID(), randomUUID(), randomUUID()];
    const start_time = '2026-11-20T10:00:00.5Z';
    const store = async (run: Fields): Promise<boolean> =>
      traces.ingest(tenant_id, [await toWrite('post', { start_time, ...run })], [], daysKept);
    await store({ id: grandchild, parent_run_id: child });
    await store({ id: child, parent_run_id: root });
    expect(await read(grandchild)).toMatchObject({ dotted_order: '', trace_id: grandchild });
    await store({ id: root });
    const segment = (id: string): string => `20261120T100000500000Z${id}`;
    expect(await read(grandchild)).toMatchObject({
      dotted_order: [root, child, grandchild].map(segment).join('.'),
      trace_id: root,
      parent_run_ids: [root, child],
    });
    const descendant = randomUUID();
    await store({ id: descendant, parent_run_id: child });
    expect(await read(descendant)).toMatchObject({
      dotted_order: [root, child, descendant].map(segment).join('.'),
    });
    expect(await database.query({ name: 'none', text: 'select id from trace_orphans' }, [])).toEqual([]);
  });
});
