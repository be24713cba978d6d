// Limits the requests and streams of a caller, and the failed authentications of an address. The counters are per process: behind a load
// balancer with n processes, a caller gets up to n times as much.
import { Problem } from '@svc/contract/problem';
import type { Authenticate, Caller, Credentials } from '../principal/caller.ts';
import type { AddressOf } from '../principal/client-address.ts';
import { Refusal } from '../authorization/refusal.ts';

export interface CallerLimitOptions {
  /** Infinity for no limit. */
  requestsPerSecond: number;
  streamsPerCaller: number;
  /** Streams of all callers together. */
  streamsMax: number;
  addressOf: AddressOf;
  now?: () => number;
}

/** The burst, in seconds of the request rate. */
const burstSeconds = 10;
/** Failed authentications per address: prevents guessing, and still lets a misconfigured client see its error. */
const failures = { perSecond: 20, burst: 100 };
/** Retry-After for streams, whose end cannot be predicted. */
const streamRetrySeconds = 5;

export class CallerLimits {
  readonly #options: CallerLimitOptions;
  readonly #requests: TokenBuckets | undefined;
  readonly #failures: TokenBuckets;
  readonly #streams = new Map<string, number>();
  #streamCount = 0;

  constructor(options: CallerLimitOptions) {
    const { requestsPerSecond: perSecond, now } = options;
    const clock = now === undefined ? {} : { now };
    this.#options = options;
    if (Number.isFinite(perSecond))
      this.#requests = new TokenBuckets({ perSecond, burst: perSecond * burstSeconds, ...clock });
    this.#failures = new TokenBuckets({ ...failures, ...clock });
  }

  /** Adds the limits to an authentication. */
  around(authenticate: Authenticate): Authenticate {
    return async (credentials) => {
      // Without an address, the failures of one client would lock out all others.
      const address = credentials.isInProcess === true ? undefined : this.#addressOf(credentials);
      const failuresWaitMs = address === undefined ? 0 : this.#failures.waitMs(address);
      if (failuresWaitMs > 0)
        throw tooMany('Too many failed authentications from your address.', failuresWaitMs);
      let caller: Caller;
      try {
        caller = await authenticate(credentials);
      } catch (error) {
        if (address !== undefined && isFailedAuthentication(error)) this.#failures.take(address);
        throw error;
      }
      if (caller.countedAs !== undefined) {
        const waitMs = this.#requests?.take(caller.countedAs) ?? 0;
        if (waitMs > 0) throw tooMany('Too many requests.', waitMs);
      }
      return caller;
    };
  }

  #addressOf(credentials: Credentials): string {
    return this.#options.addressOf(credentials) ?? 'unknown';
  }

  /** Counts a stream that is about to open. Returns a function to call once when it has closed. */
  openStream({ countedAs }: Caller): () => void {
    const { streamsPerCaller, streamsMax } = this.#options;
    if (this.#streamCount >= streamsMax)
      throw new Problem('unavailable', `The server has ${streamsMax} streams open, which is its limit.`, {
        retryAfterSeconds: streamRetrySeconds,
      });
    const open = countedAs === undefined ? 0 : (this.#streams.get(countedAs) ?? 0);
    if (open >= streamsPerCaller)
      throw new Problem('rate_limited', `You have ${streamsPerCaller} streams open, which is the limit.`, {
        retryAfterSeconds: streamRetrySeconds,
      });
    this.#streamCount++;
    if (countedAs === undefined) return () => void this.#streamCount--;
    this.#streams.set(countedAs, open + 1);
    return () => {
      this.#streamCount--;
      const left = (this.#streams.get(countedAs) ?? 1) - 1;
      if (left > 0) this.#streams.set(countedAs, left);
      else this.#streams.delete(countedAs);
    };
  }
}

const tooMany = (sentence: string, waitMs: number): Problem => {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  return new Problem('rate_limited', `${sentence} Try again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
};

/**
 * True for a failed authentication. A known caller without permission is not guessing, and a broken auth handler is nobody's fault. A
 * refusal by a project's own handler may be either, and counts.
 */
const isFailedAuthentication = (error: unknown): boolean => {
  if (error instanceof Refusal) return error.status < 500;
  return error instanceof Problem && error.code === 'unauthenticated';
};

interface BucketOptions {
  perSecond: number;
  /** Tokens in a full bucket. */
  burst: number;
  /** Minimum number of keys that are kept; up to twice as many are. */
  keysMax?: number;
  /** A monotonic clock in milliseconds. */
  now?: () => number;
}

/**
 * A token bucket per key, stored as one number: the time at which the bucket is full again. When there are too many keys, those that
 * were not used lately are dropped, which fills their buckets.
 */
export class TokenBuckets {
  readonly #everyMs: number;
  /** How far that time may be ahead of now while a token is left. */
  readonly #slackMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  // Two generations instead of one map in order of use, so that entries are never moved or searched.
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  constructor({ perSecond, burst, keysMax = 20_000, now = () => performance.now() }: BucketOptions) {
    this.#everyMs = 1000 / perSecond;
    this.#slackMs = (burst - 1) * this.#everyMs;
    this.#keysMax = keysMax;
    this.#now = now;
  }

  /** Takes a token. Returns 0, or the milliseconds until a token is available. */
  take(key: string): number {
    const now = this.#now();
    const fullAt = Math.max(this.#fullAt(key), now);
    const waitMs = this.#waitMs(fullAt, now);
    if (waitMs > 0) return waitMs;
    if (this.#young.size >= this.#keysMax && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, fullAt + this.#everyMs);
    return 0;
  }

  /** What `take` would return. */
  waitMs(key: string): number {
    return this.#waitMs(this.#fullAt(key), this.#now());
  }

  /** Number of keys that are kept. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Sums of fractions are not exact: a wait of less than a thousandth of a token is none. */
  #waitMs(fullAt: number, now: number): number {
    const waitMs = fullAt - this.#slackMs - now;
    return waitMs > this.#everyMs / 1000 ? waitMs : 0;
  }

  #fullAt(key: string): number {
    return this.#young.get(key) ?? this.#old.get(key) ?? 0;
  }
}
