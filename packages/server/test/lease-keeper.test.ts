import { pino } from 'pino';
import { expect, test } from 'vitest';
import { eventually } from './eventually.ts';
import { LeaseKeeper, type LossReason } from '../src/leases/lease-keeper.ts';

const lease = { id: 'a run', lease_token: 1 };

const keeperOf = (renew: () => Promise<ReadonlySet<string>>) => {
  const lost: LossReason[] = [];
  const onLost = (_lost: unknown, reason: LossReason) => void lost.push(reason);
  const keeper = new LeaseKeeper({ leaseMs: 1200, renew, onLost, logger: pino({ enabled: false }) });
  return { keeper, lost };
};

test('a run that ended while its lease was being renewed, and says so a moment later, is not lost', async () => {
  const { keeper, lost } = keeperOf(() => {
    queueMicrotask(() => setTimeout(() => keeper.drop(lease), 5));
    return Promise.resolve(new Set());
  });
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(keeper.size).toBe(0), 5000);
  expect(lost).toEqual([]);
  expect(keeper.losses).toBe(0);
});

test('a lease that the database calls ours no longer is lost', async () => {
  const { keeper, lost } = keeperOf(() => Promise.resolve(new Set()));
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(lost).toEqual(['taken']), 5000);
});

test('a lease that cannot be renewed is given up before its time is over', async () => {
  const { keeper, lost } = keeperOf(() => Promise.reject(new Error('away')));
  using _ = keeper;
  const sinceMs = performance.now();
  keeper.keep(lease, sinceMs);
  await eventually(() => expect(lost).toEqual(['not renewed']), 5000);
});
