// Short reads, which share one connection.
import { describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

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
  db.query({ name: '', text: 'select pg_terminate_backend($1, 5000)' }, [pid]);

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
        expect(await db.query({ name: '', text }, [shared])).toHaveLength(1);
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
