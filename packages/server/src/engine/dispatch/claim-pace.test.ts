import { describe, expect, it } from 'vitest';
import { ClaimPace } from './run-claims.ts';

describe('the pace of claims', () => {
  it('is halved by each claim that was not started whole, down to one run, and reports the failure', () => {
    const pace = new ClaimPace();
    for (const claimed of [64, 32, 16, 8, 4, 2, 1, 1]) {
      expect(pace.limit(64)).toBe(claimed);
      pace.noteUnstarted(1);
      expect(() => pace.noteClaim(claimed, 1)).toThrow(`1 of ${claimed} claimed runs`);
    }
    expect([pace.limit(64), pace.isLimited, pace.unstarted]).toEqual([1, true, 8]);
  });

  it('is doubled by each claim that was started whole, until the slots are the only limit', () => {
    const pace = new ClaimPace();
    expect(() => pace.noteClaim(2, 2)).toThrow('2 of 2');
    for (const limit of [1, 2, 4, 8, 16, 32, 64, 128, 256]) {
      expect(pace.limit(1_000)).toBe(limit);
      pace.noteClaim(0, 0); // nothing waited
      pace.noteClaim(1, 0);
    }
    expect([pace.limit(1_000), pace.isLimited]).toEqual([1_000, false]);
  });

  it('is limited until the next claim when a run that was inserted as claimed was not started', () => {
    const pace = new ClaimPace();
    pace.noteUnstarted(1);
    expect(pace.isLimited).toBe(true);
    pace.noteClaim(1, 0);
    expect(pace.isLimited).toBe(false);
  });
});
