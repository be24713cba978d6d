export interface BucketOptions {
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
    const waitMs = fullAt - this.#slackMs - now;
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
    const now = this.#now();
    return Math.max(0, this.#fullAt(key) - this.#slackMs - now);
  }

  /** Number of keys that are kept. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #fullAt(key: string): number {
    return this.#young.get(key) ?? this.#old.get(key) ?? 0;
  }
}
