import { expect, it } from 'vitest';
import { PrimaryPositions } from './replica-monitor.ts';
import type { PrimaryPosition } from './wal-position.ts';

const at = (flushed: bigint, timeline = 1): PrimaryPosition => ({
  system: '7',
  timeline,
  database: 'svc',
  flushed,
  inserted: flushed,
});

it('a replica has everything until the newest sample that it has replayed', () => {
  const positions = new PrimaryPositions();
  positions.record(at(100n), 1_000);
  positions.record(at(200n), 2_000);
  positions.record(at(300n), 3_000);
  expect(positions.replayedUntil({ replayed: 300n })).toBe(3_000);
  expect(positions.replayedUntil({ replayed: 299n })).toBe(2_000);
  expect(positions.replayedUntil({ replayed: 100n })).toBe(1_000);
  expect(positions.bytesBehind({ replayed: 120n })).toBe(180);
});

it('a replica that has not replayed the oldest sample, or nothing, has no known age', () => {
  const positions = new PrimaryPositions();
  expect(positions.replayedUntil({ replayed: 5n })).toBeUndefined();
  positions.record(at(100n), 1_000);
  expect(positions.replayedUntil({ replayed: 99n })).toBeUndefined();
  expect(positions.replayedUntil({ replayed: null })).toBeUndefined();
});

it('the data of a replica of an idle primary does not age', () => {
  const positions = new PrimaryPositions();
  for (const time of [1_000, 2_000, 3_000]) positions.record(at(100n), time);
  expect(positions.replayedUntil({ replayed: 100n })).toBe(3_000);
});

it('positions of an earlier timeline are forgotten', () => {
  const positions = new PrimaryPositions();
  positions.record(at(100n), 1_000);
  positions.record(at(90n, 2), 2_000);
  expect(positions.replayedUntil({ replayed: 95n })).toBe(2_000);
  expect(positions.replayedUntil({ replayed: 89n })).toBeUndefined();
  expect(positions.newest?.timeline).toBe(2);
});
