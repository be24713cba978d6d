// The order of locks, where renewals and ends of exports meet.
import { expect, it } from 'vitest';
import { untilOneWaits } from '../lock-waiters.ts';
import { exportLeaseStorage } from '../../src/storage/exports/export-leases.ts';
import { projectStorage } from '../../src/storage/tracing/projects.ts';
import { testDatabase } from '../database.ts';
import { newExport, newPlace, sql, statusOf } from './export-tables.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());

const rules = { retries: 0, retryDelayMs: 0 };
const limits = { runsPerExport: 2, exportsPerWorkspace: 2 };

it.each(['fails for good', 'is released for the fifth time'])(
  'a partition run that %s waits for earlier partition runs without holding its own lock',
  async (how) => {
    const leases = exportLeaseStorage(db);
    const id = await newExport(db, await newPlace(db), { days: 2 });
    const { claimed } = await leases.claimPartitionRuns(2, 60_000, limits);
    await sql(db, 'update export_runs set reclaims = 4 where export_id = $1', [id]);
    const [first, last] = claimed
      .map(({ lease }) => lease)
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    let ending: Promise<unknown> | undefined;
    // Renewals lock partition runs in the order of their ids.
    await db.transact(async (tx) => {
      const lock = 'select id from export_runs where id = $1 for update nowait';
      await sql(tx, lock, [first!.id]);
      ending =
        how === 'fails for good'
          ? leases.fail(last!, { cause: 'error', message: 'm' }, rules)
          : leases.requeue(last!, 'm', rules);
      await untilOneWaits(db);
      expect(await sql(tx, lock, [last!.id])).toHaveLength(1);
    });
    await ending;
    expect(await statusOf(db, id)).toBe('FAILED');
  },
);

it('an export of a project that is deleted meanwhile is rejected', async () => {
  const place = await newPlace(db);
  let creation: Promise<unknown> | undefined;
  await db.transact(async (tx) => {
    await projectStorage(tx).delete(place.tenant_id, place.session_id);
    creation = newExport(db, place).catch(({ message }: Error) => message);
    await untilOneWaits(db);
  });
  expect(await creation).toBe('no project');
});
