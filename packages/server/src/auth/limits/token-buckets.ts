export interface BucketOptions {
  perSecond: number;
  /** What may come at once after a quiet time. */
  burst: number;
  /** Keys that are remembered at least; it may be twice as many. */
  keysMax?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/**
 * A token bucket per key, kept as one number: the time at which the bucket will be full again. When too many keys are known,
 * those that were not used lately are forgotten, which fills their buckets.
 */
export class TokenBuckets {
  readonly #everyMs: number;
  /** How far ahead of now the time may be while a token is left. */
  readonly #slackMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  // Two generations in place of one map in order of use: nothing is ever moved or searched.
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  constructor({ perSecond, burst, keysMax = 20_000, now = () => performance.now() }: BucketOptions) {
    this.#everyMs = 1000 / perSecond;
    this.#slackMs = (burst - 1) * this.#everyMs;
    this.#keysMax = keysMax;
    this.#now = now;
  }

  /** Takes a token: 0, or the milliseconds until there is one. */
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

  /** What `take` would answer. */
  waitMs(key: string): number {
    const now = this.#now();
    return Math.max(0, this.#fullAt(key) - this.#slackMs - now);
  }

  /** Keys that are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #fullAt(key: string): number {
    return this.#young.get(key) ?? this.#old.get(key) ?? 0;
  }
}
