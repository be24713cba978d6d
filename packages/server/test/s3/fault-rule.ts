// Selects the requests that fail, and how, and counts them.
import type { S3Operation, S3Request } from './s3-request.ts';

/** A request matches when all given properties match. */
export interface Match {
  readonly method?: string;
  readonly operation?: S3Operation;
  readonly bucket?: string;
  /** The exact key, or a pattern. */
  readonly key?: string | RegExp;
  /** The first matching request that fails, counted from the creation of the rule; the first is 1. */
  readonly nth?: number;
  /** How many requests fail: by default one with `nth`, otherwise all. */
  readonly times?: number;
}

export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  | { readonly kind: 'hold' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset'; readonly afterBytes: number }
  | { readonly kind: 'resetAfterCommit' }
  | { readonly kind: 'truncate'; readonly bytes: number };

export class FaultRule {
  readonly fault: Fault;
  readonly #match: Match;
  readonly #released: Promise<void>;
  #release: () => void = () => undefined;
  readonly #waiting = new Set<() => void>();
  #matched = 0;
  #hits = 0;

  constructor(match: Match, fault: Fault) {
    this.#match = match;
    this.fault = fault;
    this.#released = new Promise((resolve) => (this.#release = resolve));
  }

  /** How often the fault has occurred. Faults after the gateway's response count once the gateway has responded. */
  get hits(): number {
    return this.#hits;
  }

  /** Resolves when the fault has occurred `count` times. */
  async untilHit(count = 1): Promise<void> {
    while (this.#hits < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Releases all requests that `hold` and `hang` hold, and holds no more. */
  release(): void {
    this.#release();
  }

  /** For the server: true when this request fails. */
  take(request: S3Request): boolean {
    if (!matches(this.#match, request)) return false;
    const { nth = 1, times = this.#match.nth === undefined ? Infinity : 1 } = this.#match;
    this.#matched += 1;
    return this.#matched >= nth && this.#matched < nth + times;
  }

  /** For the server. */
  hit(): void {
    this.#hits += 1;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** For the server. */
  untilReleased(): Promise<void> {
    return this.#released;
  }
}

const matches = ({ method, operation, bucket, key }: Match, request: S3Request): boolean =>
  (method === undefined || method === request.method) &&
  (operation === undefined || operation === request.operation) &&
  (bucket === undefined || bucket === request.bucket) &&
  (key === undefined || (key instanceof RegExp ? request.key.search(key) >= 0 : key === request.key));
