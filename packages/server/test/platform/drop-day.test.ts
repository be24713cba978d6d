// A day of expired traces is dropped, however many queries read traces meanwhile.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import {
  tracePartitionStorage,
  type TracePartitionStorage,
} from '../../src/storage/tracing/trace-partitions.ts';
import { traceStorage, type TraceWrite } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { sql } from '../exports/export-tables.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { traceWrite } from './trace-write.ts';

const tenant_id = randomUUID();
let database: TestDatabase;
let readers: Database;
let days: TracePartitionStorage;
beforeEach(async () => {
  database = await testDatabase();
  readers = await openDatabase(database.options);
  days = tracePartitionStorage(database);
});
afterEach(async () => {
  await readers[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const daysAgo = (count: number): string => new Date(Date.now() - count * 86_400_000).toISOString();

const newRun = (start_time: string) => traceWrite(start_time, { name: 'x', session_id: tenant_id });

const store = (runs: TraceWrite[], daysKept = 30): Promise<unknown> =>
  traceStorage(database).ingest(tenant_id, runs, [], daysKept);

interface Reader {
  /** How many runs it has read. */
  count: number;
  end(): Promise<void>;
}

/** A query that stays open, like a long read. */
const openReader = async (): Promise<Reader> => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let reading: Promise<void> | undefined;
  const count = await new Promise<number>((resolve, reject) => {
    reading = readers.transact(async (tx) => {
      const [row] = await sql<{ count: number }>(tx, 'select count(*)::integer as count from trace_runs');
      resolve(row?.count ?? 0);
      await ended;
    });
    reading.catch(reject);
  });
  return {
    count,
    async end() {
      end();
      await reading;
    },
  };
};

const tables = async (): Promise<string[]> =>
  (
    await sql<{ relname: string }>(
      database,
      `select relname from pg_class where relkind = 'r' and relname ~ '^trace_(runs|attachments)_2' order by 1`,
    )
  ).map(({ relname }) => relname);

describe('an expired day', () => {
  it('is dropped while there is always a query that reads traces', async () => {
    await store([newRun(daysAgo(20)), newRun(daysAgo(0))]);
    expect(await tables()).toHaveLength(4);
    const first = await openReader();
    expect(first.count).toBe(2);
    const dropped = days.dropOldest(10);
    dropped.catch(() => undefined); // awaited below
    await untilOneWaits(database);
    // Later queries neither wait for the drop nor delay it.
    const second = await openReader();
    expect(second.count).toBe(1);
    await store([newRun(daysAgo(0))]);
    await first.end();
    expect(await dropped).toBe(true);
    expect(await tables()).toHaveLength(2);
    await second.end();
  });

  it('is dropped by the next try when a query has outlasted the first', async () => {
    const expired = newRun(daysAgo(20));
    await store([expired, newRun(daysAgo(0))]);
    const reader = await openReader();
    await using impatient = await openDatabase({
      connection: { ...database.options.connection, lock_timeout: 100 },
    });
    await expect(tracePartitionStorage(impatient).dropOldest(10)).rejects.toThrow('took too long');
    // It is hidden from every later statement.
    await store([{ ...expired, rank: 1, writes: ['2'] }], 10);
    expect(await traceStorage(database).find(tenant_id, expired.id)).toBeUndefined();
    await expect(tracePartitionStorage(impatient).dropOldest(10)).rejects.toThrow('took too long');
    // A write to that day, as after a change of the setting, is rejected for the moment.
    await expect(store([newRun(daysAgo(20))])).rejects.toMatchObject({ code: 'unavailable' });
    await reader.end();
    expect(await days.dropOldest(10)).toBe(true);
    expect(await days.dropOldest(10)).toBe(false);
    expect(await tables()).toHaveLength(2);
    await store([newRun(daysAgo(20))]);
    expect(await tables()).toHaveLength(4);
  });
});
