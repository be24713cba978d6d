import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventually } from './eventually.ts';
import { LeaseKeeper, type LeaseLoss, type LossReason } from '../src/jobs/lease-keeper.ts';

// Time passes only while a test waits for a condition, so that a busy machine does not delay the renewals.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const lease = { id: 'a run', lease_token: 1 };

const keeperOf = (renew: () => Promise<ReadonlySet<string>>) => {
  const lost: LossReason[] = [];
  const messages: string[] = [];
  const onLost = (_lost: unknown, { reason, message }: LeaseLoss) => {
    lost.push(reason);
    messages.push(message);
  };
  const keeper = new LeaseKeeper({ leaseMs: 1200, renew, onLost, logger: pino({ enabled: false }) });
  return { keeper, lost, messages };
};

test('a run that ends while its lease is renewed, and reports that a moment later, is not lost', async () => {
  const { keeper, lost } = keeperOf(() => {
    queueMicrotask(() => setTimeout(() => keeper.drop(lease), 5));
    return Promise.resolve(new Set());
  });
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(keeper.size).toBe(0));
  expect(lost).toEqual([]);
  expect(keeper.losses).toBe(0);
});

test('a lease that the database no longer returns is lost', async () => {
  const { keeper, lost } = keeperOf(() => Promise.resolve(new Set()));
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(lost).toEqual(['taken']));
});

test('a lease whose renewals fail is lost before it ends, with the reason', async () => {
  const { keeper, lost, messages } = keeperOf(() => Promise.reject(new Error('away')));
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(lost).toEqual(['database']));
  expect(messages[0]).toMatch(/^lease 1 was last renewed \d\.\d s ago; the renewal failed: away$/);
  expect(keeper.lossesByReason).toEqual(new Map([['database', 1]]));
});

test('a lease whose renewal gets no answer is lost with reason database', async () => {
  const { keeper, lost, messages } = keeperOf(() => new Promise(() => undefined));
  using _ = keeper;
  keeper.keep(lease, performance.now());
  await eventually(() => expect(lost).toEqual(['database']));
  expect(messages[0]).toMatch(/the database has not answered for \d\.\d s$/);
});

test('a lease that ends while the process does not run is lost with reason late', async () => {
  vi.useRealTimers();
  const { keeper, lost, messages } = keeperOf(() => Promise.reject(new Error('away')));
  using _ = keeper;
  keeper.keep(lease, performance.now());
  // As a process without CPU time: no timer fires for longer than the lease.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
  await eventually(() => expect(lost).toEqual(['late']));
  expect(messages[0]).toMatch(/this process did not run for [1-9]\d*\.\d s$/);
});

test.each([
  ['taken', 'was still good here: the database has ended it', 0],
  ['late', 'had ended', -1_200],
])('an earlier lease on the same job is lost with reason %s when it %s', (reason, _, claimedMs) => {
  const { keeper, lost } = keeperOf(() => Promise.resolve(new Set()));
  using _keeper = keeper;
  keeper.keep(lease, performance.now() + claimedMs);
  const again = { ...lease, lease_token: 2 };
  keeper.keep(again, performance.now());
  expect(lost).toEqual([reason]);
  expect(keeper.find(lease.id)).toBe(again);
});
