// Writes of a run merge to the same row in any order, together or apart, once or twice.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ingestLimits, JsonBudget } from '../../src/json/json-limits.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import { exportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { traceHourStorage } from '../../src/storage/tracing/trace-hours.ts';
import { tracePartitionStorage } from '../../src/storage/tracing/trace-partitions.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { foldAll } from '../../src/tracing/ingest/fold.ts';
import { readRun } from '../../src/tracing/ingest/read-json.ts';
import { type NewRunWrite, toRunWrite } from '../../src/tracing/ingest/run-write.ts';
import { toRunText } from '../../src/tracing/traces/run-text.ts';
import { testDatabase } from '../database.ts';
import { newExport, newPlace, type Place, runsOf, sql } from '../exports/export-tables.ts';
import { fixture } from '../fixture.ts';
import { traceWrite } from './trace-write.ts';

const daysKept = 400;
const tenant_id = randomUUID();
const database = fixture(() => testDatabase());
const traces = fixture(() => traceStorage(database));

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

// Periodic tasks work on the rows of all workspaces: one row that cannot be processed must not hold up the others.

const db = fixture(() => testDatabase());
const start = new Date(Date.now() - 3_600_000);

const traceRun = (id: string, fields: TraceWrite['fields']): TraceWrite =>
  traceWrite(
    start.toISOString(),
    { run_type: 'llm', ...fields },
    { id, writes: [String(Math.floor(Math.random() * 1e9))] },
  );

describe('counting hours of traces', () => {
  it('continues when a workspace has sent more tokens than a column holds', async () => {
    const traces = traceStorage(db);
    const hours = traceHourStorage(db);
    const [bad, good] = [randomUUID(), randomUUID()];
    const session_id = randomUUID();
    const total_tokens = String(Number.MAX_SAFE_INTEGER);
    const many = Array.from({ length: 1_030 }, () => traceRun(randomUUID(), { session_id, total_tokens }));
    await traces.ingest(bad, many, [], daysKept);
    await traces.ingest(good, [traceRun(randomUUID(), { session_id, total_tokens: '7' })], [], daysKept);
    expect(await hours.fold(0, 100)).toBeGreaterThanOrEqual(2);
    const rows = await sql(db, 'select tenant_id, total_tokens::text as total from trace_hours');
    expect(rows).toContainEqual({ tenant_id: good, total: '7' });
    expect(rows).toContainEqual({ tenant_id: bad, total: '9223372036854775807' });
  });
});

describe('assigning paths to trace runs whose parents arrived after them', () => {
  it('continues when a workspace has trace runs that never get a path', async () => {
    const traces = traceStorage(db);
    const bad = '00000000-0000-4000-8000-000000000000';
    const good = 'ffffffff-ffff-4fff-8fff-ffffffffffff';
    for (let pair = 0; pair < 5; pair++) {
      const [a, b] = [randomUUID(), randomUUID()];
      const circle = [traceRun(a, { parent_run_id: b }), traceRun(b, { parent_run_id: a })];
      await traces.ingest(bad, circle, [], daysKept);
    }
    const [parent, child] = [randomUUID(), randomUUID()];
    const dotted_order = `20260101T000000000000Z${parent}`;
    const made = [
      traceRun(parent, { trace_id: parent, dotted_order }),
      traceRun(child, { parent_run_id: parent }),
    ];
    await traces.ingest(good, made, [], daysKept);
    // As if two concurrent batches had missed each other.
    await sql(db, 'update trace_runs set dotted_order = null where id = $1', [child]);
    await sql(db, 'insert into trace_orphans values ($1, $2, $3)', [good, parent, child]);
    expect(await tracePartitionStorage(db).adoptLate(2)).toBe(1);
    const [row] = await sql<{ dotted_order: string }>(
      db,
      'select dotted_order from trace_runs where id = $1',
      [child],
    );
    expect(row?.dotted_order).toMatch(new RegExp(`^${dotted_order}\\..*${child}$`));
  });
});

describe('exports', () => {
  let place: Place;
  beforeEach(async () => {
    await sql(db, 'delete from exports');
    place = await newPlace(db);
  });
  const retry = { retries: 0, retryDelayMs: 0 };
  const limits = { runsPerExport: 10, exportsPerWorkspace: 10 };

  /** From now on every update of this export fails. */
  const breakExport = async (id: string): Promise<void> => {
    await sql(
      db,
      `create or replace function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused' using errcode = 'check_violation'; end $$`,
    );
    await sql(
      db,
      `create or replace trigger refuse before insert or update on exports for each row
        when (new.id = '${id}' and new.status <> 'INTERVALSCHEDULED' or new.source_export_id = '${id}')
        execute function refuse()`,
    );
  };

  it('time out one by one: one that cannot is reported, and the others end', async () => {
    const ids = [await newExport(db, place), await newExport(db, place), await newExport(db, place)];
    const leases = exportLeaseStorage(db);
    await sql(db, `update exports set created_at = now() - interval '1 hour'`);
    expect((await leases.claimPartitionRuns(3, 60_000, limits)).claimed).toHaveLength(3);
    for (const [at, id] of ids.entries())
      await sql(
        db,
        `update exports set started_at = now() - interval '9 hours' + $2 * interval '1 s' where id = $1`,
        [id, at],
      );
    await breakExport(ids[0] ?? '');
    const times = { timeoutMs: 3_600_000, runTimeoutMs: 3_600_000 };
    await expect(leases.sweep({ ...times, ...retry })).rejects.toThrow(/^1 of 3 .*could not be updated$/);
    const rows = await sql<{ id: string; status: string }>(db, 'select id, status from exports');
    expect(new Map(rows.map(({ id, status }) => [id, status]))).toEqual(
      new Map(ids.map((id, at) => [id, at === 0 ? 'RUNNING' : 'TIMEDOUT'])),
    );
    await sql(db, 'drop trigger refuse on exports');
  });

  it('of schedules are created one by one: a schedule that cannot create one is paused with the reason', async () => {
    const since = new Date(Date.now() - 3 * 3_600_000).toISOString().replace('Z', '000Z');
    const schedules = [
      await newExport(db, place, { interval_hours: 1, start: since }),
      await newExport(db, place, { interval_hours: 1, start: since }),
    ];
    const [bad = '', good = ''] = schedules.toSorted();
    await breakExport(bad);
    expect(await exportLeaseStorage(db).spawn(0, 15, 50)).toBe(1);
    const rows = await sql<{ id: string }>(
      db,
      `select id, next_window is null as paused, error from exports where status = 'INTERVALSCHEDULED'`,
    );
    expect(rows).toContainEqual({ id: good, paused: false, error: null });
    expect(rows).toContainEqual({
      id: bad,
      paused: true,
      error: 'Paused: the export of its next window could not be made (SQLSTATE 23514)',
    });
    await sql(db, 'drop trigger refuse on exports');
  });

  it('record an error that contains NUL, which a text column cannot store', async () => {
    const id = await newExport(db, place);
    const leases = exportLeaseStorage(db);
    await sql(db, `update exports set created_at = now() - interval '1 hour'`);
    const [first] = (await leases.claimPartitionRuns(1, 60_000, limits)).claimed;
    expect(await leases.requeue(first!.lease, 'lost\0here', retry)).toBe(true);
    const [second] = (await leases.claimPartitionRuns(1, 60_000, limits)).claimed;
    expect(await leases.fail(second!.lease, { cause: 'error', message: 'a\0b' }, retry)).toBe('FAILED');
    expect((await runsOf(db, id))[0]?.errors).toEqual({ retry_0: 'a\ufffdb' });
  });
});

describe('a run', () => {
  it('is released with an error that contains NUL', async () => {
    const leases = runLeaseStorage(db);
    await leases.release([{ id: randomUUID(), lease_token: 1 }], {
      charge: true,
      lost: true,
      reason: 'a\0b',
    });
  });
});
