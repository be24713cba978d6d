// The start of an export: after all transactions that may still commit rows of the export, and not later.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import { traceStorage } from '../../src/storage/tracing/traces.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { newExport, newPlace, sql, type Place } from './export-tables.ts';
import { traceWrite } from '../platform/trace-write.ts';

let database: TestDatabase;
let other: Database;
let place: Place;
beforeEach(async () => {
  database = await testDatabase();
  other = await openDatabase(database.options);
  place = await newPlace(database);
});
afterEach(async () => {
  await other[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const claim = async (): Promise<number> => {
  const limits = { runsPerExport: 45, exportsPerWorkspace: 15 };
  return (await exportLeaseStorage(database).claimPartitionRuns(1, 60_000, limits)).claimed.length;
};

const newRun = () => traceWrite('2026-03-01T00:00:01.000000Z', { session_id: place.session_id });

/** Does `work` while a transaction is open that has done `first`. */
const during = async (first: (tx: Database) => Promise<unknown>, work: () => Promise<void>): Promise<void> =>
  other.transact(async (tx) => {
    await first(tx);
    await work();
  });

const ingest = (tx: Database): Promise<unknown> =>
  traceStorage(tx).ingest(place.tenant_id, [newRun()], [], 3_650);

describe('an export', () => {
  it('waits for a batch that was being stored when the export was created, however long that takes', async () => {
    await during(ingest, async () => {
      await newExport(database, place);
      expect(await claim()).toBe(0);
      // As after two minutes.
      await sql(database, `update exports set created_at = created_at - interval '2 minutes'`);
      expect(await claim()).toBe(0);
    });
    expect(await claim()).toBe(1);
  });

  it('does not wait for a later batch', async () => {
    await during(ingest, async () => {
      await newExport(database, place);
      expect(await claim()).toBe(0);
    });
    await during(ingest, async () => {
      expect(await claim()).toBe(1);
    });
  });

  it('does not wait for transactions that only read, or write other tables', async () => {
    await during(
      async (tx) => {
        await sql(tx, 'select count(*) from trace_runs');
        await sql(tx, `insert into workspaces (id, display_name) values ($1, 'w')`, [randomUUID()]);
      },
      async () => {
        await newExport(database, place);
        expect(await claim()).toBe(1);
      },
    );
  });

  it('omits rows that a transaction stores after the start, even if the transaction began before', async () => {
    await other.transact(async (tx) => {
      await sql(tx, 'select 1');
      await newExport(database, place);
      expect(await claim()).toBe(1);
      await ingest(tx);
    });
    const storedLater = await sql(
      database,
      'select from trace_runs r join exports e using (tenant_id, session_id) where r.inserted_at <= e.created_at',
    );
    // The row is not in the export, which had started: its insertion time is later.
    expect(storedLater).toEqual([]);
  });
});
