// Threads that are created at the same time.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { threadStorage, type ThreadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { GroupedWrites } from '../../src/storage/postgres/grouped-writes.ts';
import { testDatabase, type TestDatabase } from '../database.ts';

let db: TestDatabase;
let threads: ThreadStorage;
beforeAll(async () => {
  db = await testDatabase();
  threads = threadStorage(db);
});
afterAll(() => db[Symbol.asyncDispose]());

const create = (thread_id: string, metadata: Record<string, unknown> = {}) =>
  threads.create({ thread_id, metadata, config: {} });

const transactionsOf = async (ids: string[]): Promise<number> => {
  const text =
    'select count(distinct xmin::text)::integer as count from threads where thread_id = any ($1::uuid[])';
  return (await db.query<{ count: number }>({ name: '', text }, [ids]))[0]?.count ?? 0;
};

describe('threads that are created at the same time', () => {
  it('are stored by few transactions, and each caller gets its own thread', async () => {
    const ids = Array.from({ length: 60 }, () => randomUUID());
    const rows = await Promise.all(ids.map((id, at) => create(id, { at, text: 'é "x" \\ 🙂' })));
    expect(rows.map((row) => [row?.thread_id, row?.metadata])).toEqual(
      ids.map((id, at) => [id, { at, text: 'é "x" \\ 🙂' }]),
    );
    // The first one leaves at once, the others while it is executed.
    expect(await transactionsOf(ids)).toBeLessThan(20);
  });

  it('fail alone when one cannot be stored', async () => {
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const creations = ids.map((id, at) => create(id, at === 5 ? { text: '\u0000' } : {}));
    const results = await Promise.allSettled(creations);
    expect(results.map(({ status }) => status)).toEqual(
      ids.map((_, at) => (at === 5 ? 'rejected' : 'fulfilled')),
    );
    await expect(creations[5]).rejects.toMatchObject({ code: 'invalid' });
  });

  it('have the values of the caller who gets the thread, when several callers send one id', async () => {
    const ids = Array.from({ length: 8 }, () => randomUUID());
    // In no order of the ids, which would be sorted already.
    const sent = Array.from({ length: 90 }, (_, at) => ({ id: ids[(at * 7) % 8] ?? '', at }));
    const rows = await Promise.all(sent.map(({ id, at }) => create(id, { at })));
    const made = sent.filter((_, at) => rows[at] !== undefined);
    expect(made).toHaveLength(8);
    expect(rows.filter((row) => row !== undefined).map(({ metadata }) => metadata)).toEqual(
      made.map(({ at }) => ({ at })),
    );
  });

  it('do not wait for a thread that exists and is being changed', async () => {
    const changed = randomUUID();
    await create(changed);
    // The first two leave alone.
    const ids = [randomUUID(), randomUUID(), changed, randomUUID(), randomUUID()];
    await db.transact(async (tx) => {
      const text = 'update threads set updated_at = now() where thread_id = $1';
      await tx.query({ name: '', text }, [changed]);
      const rows = await Promise.all(ids.map((id) => create(id)));
      expect(rows.map((row) => row?.thread_id)).toEqual(ids.map((id) => (id === changed ? undefined : id)));
    });
  });

  it('do not wait for long for one that another transaction has not committed', async () => {
    const other = randomUUID();
    const ids = [randomUUID(), randomUUID(), other, randomUUID(), randomUUID()];
    let waiting: Promise<unknown> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).create({ thread_id: other, metadata: {}, config: {} });
      const sinceMs = performance.now();
      const created = ids.map((id) => create(id));
      waiting = created[2];
      const rows = await Promise.all(created.filter((_, at) => at !== 2));
      expect(rows.map((row) => row?.thread_id)).toEqual(ids.filter((id) => id !== other));
      // A statement of one thread waits for locks for 15 seconds.
      expect(performance.now() - sinceMs).toBeLessThan(10_000);
    });
    expect(await waiting).toBeUndefined();
  });

  it('are found by the id that the caller sent, in any case of letters', async () => {
    const ids = Array.from({ length: 4 }, () => randomUUID());
    const rows = await Promise.all(ids.map((id) => create(id.toUpperCase())));
    expect(rows.map((row) => row?.thread_id)).toEqual(ids);
  });

  it('are as many as ids, of whatever length and however often an id is sent', async () => {
    const metadata = fc.oneof(fc.constant({}), fc.constant({ text: 'x'.repeat(300_000) }));
    const sent = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), metadata), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(sent, async (list) => {
        const ids = Array.from({ length: 10 }, () => randomUUID());
        const rows = await Promise.all(
          list.map(async ([at, value]) => ({ at, row: await create(ids[at] ?? '', value) })),
        );
        for (const { at, row } of rows) if (row) expect(row.thread_id).toBe(ids[at]);
        const made = rows.filter(({ row }) => row !== undefined).map(({ at }) => at);
        const wanted = new Set(list.map(([at]) => at));
        expect(new Set(made)).toEqual(wanted);
        expect(made).toHaveLength(wanted.size);
      }),
      { numRuns: 30 },
    );
  });
});

describe('writes that are refused together', () => {
  const refusedBy = (code: string): GroupedWrites<number, number> => {
    const cause = Object.assign(new pg.DatabaseError('refused', 7, 'error'), { code });
    return new GroupedWrites({
      one: (n) => Promise.resolve(n),
      several: () => Promise.reject(new Problem('unavailable', 'refused', { cause })),
      bytesOf: () => 1,
    });
  };
  const statusesOf = async (code: string): Promise<string[]> => {
    const writes = refusedBy(code);
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => writes.write(n)));
    return results.map(({ status }) => status);
  };

  it('are stored alone when they need more locks than the database has', async () => {
    expect(await statusesOf('53200')).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('are not sent again when the outcome is unknown', async () => {
    expect(await statusesOf('57P01')).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  });
});
