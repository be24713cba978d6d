// How much one caller may ask of this process, and how often one address may be wrong about who it is. The state is
// this process's own: with n of them behind a balancer a caller gets up to n times as much.
import { Problem } from '@svc/contract/problem';
import type { Authenticate, Caller } from '../principal/caller.ts';
import type { AddressOf } from '../principal/client-address.ts';
import { Refusal } from '../authorization/refusal.ts';
import { TokenBuckets } from './token-buckets.ts';

export interface CallerLimitOptions {
  /** Infinity: no limit. */
  requestsPerSecond: number;
  streamsPerCaller: number;
  /** Of all callers together. */
  streamsMax: number;
  addressOf: AddressOf;
  now?: () => number;
}

/** Seconds' worth of requests that may come at once. */
const burstSeconds = 10;
/** Of one address; guessing gets no further, a misconfigured client still sees why it is refused. */
const failures = { perSecond: 20, burst: 100 };
/** A stream ends when it ends; there is no telling when. */
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

  /** The same authentication, within the limits. */
  around(authenticate: Authenticate): Authenticate {
    return async (credentials, access) => {
      const address = this.#options.addressOf(credentials) ?? 'unknown';
      const failuresWaitMs = this.#failures.waitMs(address);
      if (failuresWaitMs > 0)
        throw tooMany('Too many requests of your address did not prove who sends them.', failuresWaitMs);
      let caller: Caller;
      try {
        caller = await authenticate(credentials, access);
      } catch (error) {
        if (isUnproven(error)) this.#failures.take(address);
        throw error;
      }
      if (caller.countedAs !== undefined) {
        const waitMs = this.#requests?.take(caller.countedAs) ?? 0;
        if (waitMs > 0) throw tooMany('You make too many requests.', waitMs);
      }
      return caller;
    };
  }

  /** Counts a stream that is about to open; returns what says that it has closed, to be called once. */
  openStream({ countedAs }: Caller): () => void {
    const { streamsPerCaller, streamsMax } = this.#options;
    if (this.#streamCount >= streamsMax)
      throw new Problem('unavailable', `The server has ${streamsMax} streams open, and takes no more.`, {
        retryAfterSeconds: streamRetrySeconds,
      });
    const open = countedAs === undefined ? 0 : (this.#streams.get(countedAs) ?? 0);
    if (open >= streamsPerCaller)
      throw new Problem('rate_limited', `You have ${streamsPerCaller} streams open, and get no more.`, {
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
 * Whether the caller did not prove who they are. A known one who may not do this guesses nothing, nor is an authentication
 * that is broken anybody's fault. What a project's own handler refuses may be either, and counts.
 */
const isUnproven = (error: unknown): boolean => {
  if (error instanceof Refusal) return error.status < 500;
  return error instanceof Problem && error.code === 'unauthenticated';
};
