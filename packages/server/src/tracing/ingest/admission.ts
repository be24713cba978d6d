// How much may be under way at once: what comes on top is told to come again, rather than kept in memory until that is gone.
import { Problem } from '@svc/contract/problem';

const full = (): Problem =>
  new Problem(
    'rate_limited',
    'More traces are being taken in than fit in memory at the moment; send them again.',
  );

export interface AdmissionLimits {
  /** Of all bodies that are read or wait to be stored. */
  bytesMax: number;
  /** Batches at once that ask the database for anything, each on one connection at a time. */
  writersMax: number;
  /** Batches that wait for that. */
  waitingMax: number;
  /** Called when a body has been stored or refused. */
  onReleased?: () => void;
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #waiting: (() => void)[] = [];
  #bytes = 0;
  #writers = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Does the work with what is read from `body` counted until it is done. Throws `rate_limited` when that is too much. */
  async admit<T>(
    body: AsyncIterable<Uint8Array>,
    work: (counted: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    if (this.#waiting.length >= this.#limits.waitingMax) throw full();
    let own = 0;
    const count = (size: number): void => {
      // One body alone is never too much: its own limit bounds it.
      if (this.#bytes > own && this.#bytes + size > this.#limits.bytesMax) throw full();
      own += size;
      this.#bytes += size;
    };
    try {
      return await work(counting(body, count));
    } finally {
      this.#bytes -= own;
      this.#limits.onReleased?.();
    }
  }

  /** Does the work when it is its turn. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#writers < this.#limits.writersMax) this.#writers++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes to who has waited longest.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#writers--;
    }
  }
}

async function* counting(
  body: AsyncIterable<Uint8Array>,
  count: (size: number) => void,
): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    count(chunk.length);
    yield chunk;
  }
}
