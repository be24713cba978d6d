import { Problem } from '@svc/contract/problem';
import { describe, expect, it } from 'vitest';
import { Refusal } from '../authorization/refusal.ts';
import { CallerLimits } from './caller-limits.ts';
import type { Authenticate, Credentials } from '../principal/caller.ts';

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

const access = { resource: 'threads', action: 'read' } as const;

/** What became of so many requests in a row. */
const outcomes = async (authenticate: Authenticate, count: number, address = 'a'): Promise<string[]> => {
  const seen: string[] = [];
  for (let at = 0; at < count; at++) {
    try {
      await authenticate(from(address), access);
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

  it('may be ten seconds’ worth at once, and not one more', async () => {
    const { all, clock } = limits();
    const around = all.around(known);
    expect(counts(await outcomes(around, 51))).toEqual({ taken: 50, rate_limited: 1 });
    clock.ms += 1000;
    expect(counts(await outcomes(around, 6))).toEqual({ taken: 5, rate_limited: 1 });
    expect(counts(await outcomes(around, 50, 'b'))).toEqual({ taken: 50 });
  });

  it('that are refused hear when the next one may come', async () => {
    const { all } = limits({ requestsPerSecond: 0.1 });
    const around = all.around(known);
    await around(from('a'), access);
    await expect(around(from('a'), access)).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 10,
    });
  });

  it('are not counted where nobody is told apart, or there is no limit', async () => {
    const anybody: Authenticate = () => ({ user: undefined, countedAs: undefined });
    expect(counts(await outcomes(limits().all.around(anybody), 500))).toEqual({ taken: 500 });
    const { all } = limits({ requestsPerSecond: Number.POSITIVE_INFINITY });
    expect(counts(await outcomes(all.around(known), 500))).toEqual({ taken: 500 });
  });
});

describe('failed authentications of an address', () => {
  const refusing = (error: () => unknown) => {
    let asked = 0;
    const authenticate: Authenticate = () => {
      asked++;
      throw error();
    };
    return { authenticate, asked: () => asked };
  };

  it('may be a hundred at once; then nobody is asked, whatever the next one knows', async () => {
    const { all, clock } = limits();
    const { authenticate, asked } = refusing(() => new Problem('unauthenticated', 'no'));
    const around = all.around(authenticate);
    expect(counts(await outcomes(around, 101))).toEqual({ unauthenticated: 100, rate_limited: 1 });
    expect(asked()).toBe(100);
    const good = all.around(() => ({ user: undefined, countedAs: undefined }));
    expect(await outcomes(good, 1)).toEqual(['rate_limited']);
    expect(await outcomes(good, 1, 'b')).toEqual(['taken']);
    clock.ms += 1000;
    expect(counts(await outcomes(around, 21))).toEqual({ unauthenticated: 20, rate_limited: 1 });
  });

  it('are what a handler of the project refuses, whatever its status', async () => {
    const around = limits().all.around(
      refusing(() => new Refusal(418, 'teapot', {}, undefined)).authenticate,
    );
    expect(counts(await outcomes(around, 120))).toEqual({ forbidden: 100, rate_limited: 20 });
  });

  it.each([
    ['what a known caller may not do', new Problem('forbidden', 'no')],
    ['a faulty request of one', new Problem('bad_request', 'which workspace?')],
    ['a mistake of the server', new Problem('internal', 'bug')],
    ['a handler that is broken', new Refusal(503, 'away', {}, undefined)],
    ['an error of something else', Object.assign(new Error('not found'), { status: 404 })],
    ['what was thrown without a word', undefined],
  ])('are not %s', async (_, error) => {
    const seen = await outcomes(limits().all.around(refusing(() => error).authenticate), 120);
    expect(seen).not.toContain('rate_limited');
  });
});

describe('streams', () => {
  const caller = (countedAs: string | undefined) => ({ user: undefined, countedAs });

  it('are counted per caller and in all, until they close', () => {
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
