// Threads that are created at the same time.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { GroupedWrites } from '../../src/storage/postgres/grouped-writes.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
const threads = fixture(() => threadStorage(db));

const create = (thread_id: string, metadata: Record<string, unknown> = {}) =>
  threads.create({ thread_id, metadata, config: {} });

const transactionsOf = async (ids: string[]): Promise<number> => {
  const text =
    'select count(distinct xmin::text)::integer as count from threads where thread_id = any ($1::uuid[])';
  return (await db.query<{ count: number }>({ text }, [ids]))[0]?.count ?? 0;
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
      await tx.query({ text }, [changed]);
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

// Short reads, which share one connection.

const open = (poolMax = 10): Promise<Database> =>
  openDatabase({ connection: { connectionString: db.uri }, poolMax, sharesReads: true });

const short = { reads: true, isShort: true };

const pidOf = async (on: Database): Promise<number> => {
  const statement = { ...short, name: 'pid', text: 'select pg_backend_pid() as pid' };
  return (await on.query<{ pid: number }>(statement, []))[0]?.pid ?? 0;
};

/** An advisory lock that nothing else uses. */
const readLock = 21;

/** Like pidOf; waits for the lock. */
const heldPidOf = async (on: Database): Promise<number> => {
  const text = `select pg_backend_pid() as pid from pg_advisory_xact_lock_shared(${readLock})`;
  return (await on.query<{ pid: number }>({ ...short, name: 'held_pid', text }, []))[0]?.pid ?? 0;
};

/** Holds the lock during `work`. */
const holdReads = (work: () => Promise<void>): Promise<void> =>
  db.transact(async (tx) => {
    await tx.script(`select pg_advisory_xact_lock(${readLock})`);
    await work();
  });

const several = (on: Database, count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => pidOf(on)));

/** The process of the shared connection, once it is open. */
const sharedPid = async (on: Database): Promise<number> => {
  let pid: number | undefined;
  await eventually(async () => {
    const pids = new Set(await several(on, 5));
    expect(pids.size).toBe(1);
    [pid] = pids;
  });
  return pid ?? 0;
};

const end = (pid: number): Promise<unknown> =>
  db.query({ text: 'select pg_terminate_backend($1, 5000)' }, [pid]);

describe('short reads', () => {
  it('of several callers share one connection, and each caller gets its own rows', async () => {
    await using own = await open();
    const pid = await sharedPid(own);
    const text = 'select $1::integer as n, pg_backend_pid() as pid from generate_series(1, $1)';
    const read = (n: number): Promise<object[]> => own.query({ ...short, name: 'own', text }, [n]);
    const rows = await Promise.all(Array.from({ length: 30 }, (_, n) => read(n)));
    expect(rows).toEqual(Array.from({ length: 30 }, (_, n) => Array.from({ length: n }, () => ({ n, pid }))));
  });

  it('of one turn of the event loop share it, however long the turn takes', async () => {
    await using own = await open();
    const shared = await sharedPid(own);
    const first = pidOf(own);
    // Both are sent after the turn, so the second does not wait behind the first.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    expect(await Promise.all([first, pidOf(own)])).toEqual([shared, shared]);
  });

  it('get connections of the pool, when more are sent than the connection takes', async () => {
    await using own = await open();
    const shared = await sharedPid(own);
    const pids = await several(own, 100);
    expect(pids.filter((pid) => pid === shared)).toHaveLength(32);
  });

  it('do not wait behind a slow one', async () => {
    await using own = await open();
    const shared = await sharedPid(own);
    let slow: Promise<number> | undefined;
    await holdReads(async () => {
      slow = heldPidOf(own);
      await eventually(async () => {
        // It has been executed for longer than the connection lets reads wait.
        const text = `select 1 from pg_stat_activity
          where pid = $1 and state = 'active' and clock_timestamp() - query_start > interval '50 ms'`;
        expect(await db.query({ text }, [shared])).toHaveLength(1);
      });
      expect(await pidOf(own)).not.toBe(shared);
    });
    expect(await slow).toBe(shared);
  });

  it('fail alone: the others of the same turn get their rows', async () => {
    await using own = await open();
    const shared = await sharedPid(own);
    const failing = own.query({ ...short, name: 'failing', text: 'select 1 / $1::integer' }, [0]);
    const others = several(own, 5);
    await expect(failing).rejects.toThrow();
    expect(await others).toEqual(Array.from({ length: 5 }, () => shared));
  });

  it('are sent again when the connection breaks, and get a new one', async () => {
    await using own = await open();
    const shared = await sharedPid(own);
    let reads: Promise<number> | undefined;
    await holdReads(async () => {
      reads = heldPidOf(own);
      await end(shared);
    });
    expect(await reads).not.toBe(shared);
    expect(await sharedPid(own)).not.toBe(shared);
  });

  it('do not share a connection to a server that is read-only', async () => {
    await using moved = await testDatabase();
    const name = new URL(moved.uri).pathname.slice(1);
    const setReadOnly = (value: 'on' | 'off') =>
      db.script(`alter database ${name} set default_transaction_read_only = ${value}`);
    await using own = await openDatabase({
      connection: { connectionString: moved.uri },
      sharesReads: true,
    });
    const shared = await sharedPid(own);
    // As if new connections reached the former primary, while the pool is connected to the new one.
    await setReadOnly('on');
    await end(shared);
    for (let at = 0; at < 30; at++) await pidOf(own);
    await setReadOnly('off');
    await sharedPid(own);
    const text = `select current_setting('transaction_read_only') as value`;
    expect(await own.query({ ...short, name: 'read_only', text }, [])).toEqual([{ value: 'off' }]);
  });

  it('leave few connections to transactions: below four connections, none is shared', async () => {
    await using own = await open(3);
    const pids = await several(own, 12);
    expect(new Set(pids).size).toBe(3);
    expect(own.poolState()).toMatchObject({ pool_total: 3 });
  });

  it('that are unanswered when the database is closed are answered', async () => {
    const own = await open();
    const shared = await sharedPid(own);
    const reads = several(own, 5);
    await own[Symbol.asyncDispose]();
    expect(await reads).toEqual(Array.from({ length: 5 }, () => shared));
  });
});
