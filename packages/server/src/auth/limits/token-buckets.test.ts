import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenBuckets } from './token-buckets.ts';

const buckets = (given: { perSecond: number; burst: number; keysMax?: number }) => {
  const clock = { ms: 1000 };
  return { clock, buckets: new TokenBuckets({ ...given, now: () => clock.ms }) };
};

describe('a token bucket', () => {
  it('grants its burst, then one token per interval', () => {
    const { clock, buckets: all } = buckets({ perSecond: 4, burst: 3 });
    const taken = () => all.take('a') === 0;
    expect([taken(), taken(), taken(), taken()]).toEqual([true, true, true, false]);
    expect([all.waitMs('a'), all.take('a')]).toEqual([250, 250]);
    clock.ms += 249;
    expect(taken()).toBe(false);
    clock.ms += 1;
    expect([all.waitMs('a'), taken(), taken()]).toEqual([0, true, false]);
    clock.ms += 1_000_000;
    expect([taken(), taken(), taken(), taken()]).toEqual([true, true, true, false]);
  });

  it('is separate for each key', () => {
    const { buckets: all } = buckets({ perSecond: 1, burst: 1 });
    expect([all.take('a'), all.take('b'), all.take('a') > 0]).toEqual([0, 0, true]);
  });

  it('grants what a bucket with a token count would grant', () => {
    const steps = fc.array(fc.nat({ max: 700 }), { maxLength: 200 });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 20 }),
        (pauses, log, burst) => {
          // Powers of two avoid rounding differences between the two ways to count.
          const perSecond = 1000 / 2 ** log;
          const { clock, buckets: all } = buckets({ perSecond, burst });
          let tokens = burst;
          for (const pause of pauses) {
            clock.ms += pause;
            tokens = Math.min(burst, tokens + (pause * perSecond) / 1000);
            const isTaken = tokens >= 1;
            expect(all.take('k') === 0).toBe(isTaken);
            if (isTaken) tokens -= 1;
          }
        },
      ),
    );
  });

  it('removes idle keys, and keeps active ones', () => {
    const { clock, buckets: all } = buckets({ perSecond: 1, burst: 1000, keysMax: 100 });
    for (let at = 0; at < 1000; at++) all.take('steady');
    for (let at = 0; at < 10_000; at++) {
      all.take(`stranger ${at}`);
      if (at % 50 === 0) {
        clock.ms += 1000;
        expect(all.take('steady')).toBe(0);
        expect(all.take('steady')).toBeGreaterThan(0);
      }
      expect(all.size).toBeLessThanOrEqual(200);
    }
  });
});
