// Which requests go wrong, how, and how often it has happened.
import type { S3Operation, S3Request } from './s3-request.ts';

/** A request matches when all that is named does. */
export interface Match {
  readonly method?: string;
  readonly operation?: S3Operation;
  readonly bucket?: string;
  /** All of the key, or a pattern that it holds. */
  readonly key?: string | RegExp;
  /** From the n-th request that matches since the rule was made; the first is 1. */
  readonly nth?: number;
  /** So many of them. One where `nth` is named, otherwise all. */
  readonly times?: number;
}

export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  | { readonly kind: 'gate' }
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
  #seen = 0;
  #hits = 0;

  constructor(match: Match, fault: Fault) {
    this.#match = match;
    this.fault = fault;
    this.#released = new Promise((resolve) => (this.#release = resolve));
  }

  /** How often it has taken effect; with a fault that comes after the gateway, once the gateway has answered. */
  get hits(): number {
    return this.#hits;
  }

  /** Resolves when it has taken effect so often. */
  async untilHit(count = 1): Promise<void> {
    while (this.#hits < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Lets go what `gate` and `hang` hold, and hold no more. */
  release(): void {
    this.#release();
  }

  /** For the server: whether this request is one of those that go wrong. */
  take(request: S3Request): boolean {
    if (!matches(this.#match, request)) return false;
    const { nth = 1, times = this.#match.nth === undefined ? Infinity : 1 } = this.#match;
    this.#seen += 1;
    return this.#seen >= nth && this.#seen < nth + times;
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
