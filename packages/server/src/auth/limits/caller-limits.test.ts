import { Problem } from '@svc/contract/problem';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../authorization/refusal.ts';
import { CallerLimits, TokenBuckets } from './caller-limits.ts';
import type { Authenticate, Credentials } from '../principal/caller.ts';
import fc from 'fast-check';

const limits = (given: Partial<ConstructorParameters<typeof CallerLimits>[0]> = {}) => {
  const clock = { ms: 1000 };
  const options = { requestsPerSecond: 5, streamsPerCaller: 2, streamsMax: 3 };
  const addressOf = ({ remoteAddress }: Pick<Credentials, 'remoteAddress'>) => remoteAddress;
  return { clock, all: new CallerLimits({ ...options, addressOf, now: () => clock.ms, ...given }) };
};

const from = (remoteAddress: string): Credentials => ({
  remoteAddress,
  header: () => undefined,
  request: () => new Request('http://localhost/'),
});

/** The outcomes of a number of requests in a row. */
const outcomes = async (authenticate: Authenticate, count: number, address = 'a'): Promise<string[]> => {
  const seen: string[] = [];
  for (let at = 0; at < count; at++) {
    try {
      await authenticate(from(address));
      seen.push('taken');
    } catch (error) {
      seen.push(error instanceof Problem ? error.code : String(error));
    }
  }
  return seen;
};

const counts = (seen: string[]): Record<string, number> =>
  Object.fromEntries(seen.map((outcome) => [outcome, seen.filter((other) => other === outcome).length]));

describe('requests of a caller', () => {
  const known: Authenticate = ({ remoteAddress }) => ({ user: undefined, countedAs: remoteAddress });

  it('are limited to those of ten seconds at once', async () => {
    const { all, clock } = limits();
    const around = all.around(known);
    expect(counts(await outcomes(around, 51))).toEqual({ taken: 50, rate_limited: 1 });
    clock.ms += 1000;
    expect(counts(await outcomes(around, 6))).toEqual({ taken: 5, rate_limited: 1 });
    expect(counts(await outcomes(around, 50, 'b'))).toEqual({ taken: 50 });
  });

  it('over the limit are rejected with the time of the next one', async () => {
    const { all } = limits({ requestsPerSecond: 0.1 });
    const around = all.around(known);
    await around(from('a'));
    await expect(around(from('a'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 10,
    });
  });

  it('are not counted without distinct callers, or without a limit', async () => {
    const anybody: Authenticate = () => ({ user: undefined, countedAs: undefined });
    expect(counts(await outcomes(limits().all.around(anybody), 500))).toEqual({ taken: 500 });
    const { all } = limits({ requestsPerSecond: Number.POSITIVE_INFINITY });
    expect(counts(await outcomes(all.around(known), 500))).toEqual({ taken: 500 });
  });
});

describe('failed authentications of an address', () => {
  const rejecting = (error: () => unknown) => {
    let callCount = 0;
    const authenticate: Authenticate = () => {
      callCount++;
      throw error();
    };
    return { authenticate, callCount: () => callCount };
  };

  it('are limited to a hundred at once; then credentials are not checked', async () => {
    const { all, clock } = limits();
    const { authenticate, callCount } = rejecting(() => new Problem('unauthenticated', 'no'));
    const around = all.around(authenticate);
    expect(counts(await outcomes(around, 101))).toEqual({ unauthenticated: 100, rate_limited: 1 });
    expect(callCount()).toBe(100);
    const good = all.around(() => ({ user: undefined, countedAs: undefined }));
    expect(await outcomes(good, 1)).toEqual(['rate_limited']);
    expect(await outcomes(good, 1, 'b')).toEqual(['taken']);
    clock.ms += 1000;
    expect(counts(await outcomes(around, 21))).toEqual({ unauthenticated: 20, rate_limited: 1 });
  });

  it('are not limited without a connection, where all clients would have one address', async () => {
    const { all } = limits();
    const { authenticate } = rejecting(() => new Problem('unauthenticated', 'no'));
    const inProcess: Authenticate = (credentials) =>
      all.around(authenticate)({ ...credentials, isInProcess: true });
    expect(counts(await outcomes(inProcess, 150))).toEqual({ unauthenticated: 150 });
  });

  it('include rejections by a handler of the project, with any status', async () => {
    const around = limits().all.around(
      rejecting(() => new Refusal(418, 'teapot', {}, undefined)).authenticate,
    );
    expect(counts(await outcomes(around, 120))).toEqual({ forbidden: 100, rate_limited: 20 });
  });

  it.each([
    ['a missing permission of a known caller', new Problem('forbidden', 'no')],
    ['an invalid request of a known caller', new Problem('bad_request', 'which workspace?')],
    ['a server error', new Problem('internal', 'bug')],
    ['a failing handler', new Refusal(503, 'away', {}, undefined)],
    ['an error of another source', Object.assign(new Error('not found'), { status: 404 })],
    ['a thrown undefined', undefined],
  ])('do not include %s', async (_, error) => {
    const seen = await outcomes(limits().all.around(rejecting(() => error).authenticate), 120);
    expect(seen).not.toContain('rate_limited');
  });
});

describe('streams', () => {
  const caller = (countedAs: string | undefined) => ({ user: undefined, countedAs });

  it('are counted per caller and in total, until they close', () => {
    const { all } = limits();
    const close = all.openStream(caller('a'));
    all.openStream(caller('a'));
    expect(() => all.openStream(caller('a'))).toThrow('You have 2 streams open');
    close();
    all.openStream(caller('a'));
    const last = all.openStream(caller(undefined));
    for (const name of ['b', undefined]) {
      expect(() => all.openStream(caller(name))).toThrow('The server has 3 streams open');
    }
    last();
    all.openStream(caller('b'));
  });
});

const buckets = (given: { perSecond: number; burst: number; keysMax?: number }) => {
  const clock = { ms: 1000 };
  return { clock, buckets: new TokenBuckets({ ...given, now: () => clock.ms }) };
};

describe('a token bucket', () => {
  it('grants exactly its burst at one time, whatever the rate and the time', () => {
    const rate = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(rate, fc.double({ min: 0, max: 1e9, noNaN: true }), (perSecond, ms) => {
        const { clock, buckets: all } = buckets({ perSecond, burst: 10 * perSecond });
        clock.ms = ms;
        const granted = Array.from({ length: 10 * perSecond + 5 }, () => all.take('a') === 0);
        expect(granted.filter(Boolean).length).toBe(10 * perSecond);
      }),
    );
  });

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
