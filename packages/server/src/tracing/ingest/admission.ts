// Limits the memory and database connections of concurrent ingest requests. Requests beyond the limits are rejected with 429, and
// tracers send them again.
import { Problem } from '@svc/contract/problem';

const full = (): Problem =>
  new Problem(
    'rate_limited',
    'The server is receiving more traces than fit into its memory; send the request again later.',
  );

export interface AdmissionLimits {
  /** Maximum size of all bodies that are being read or wait to be stored. */
  bytesMax: number;
  /** Maximum number of batches that use the database, each with one connection at a time. */
  writersMax: number;
  /** Maximum number of batches that wait to use the database. */
  waitingMax: number;
  /** Called when a body has been stored or rejected. */
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

  /** Runs `work`. The bytes that it reads from `body` count against `bytesMax` until it ends. Throws `rate_limited` beyond the limits. */
  async admit<T>(
    body: AsyncIterable<Uint8Array>,
    work: (counted: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    if (this.#waiting.length >= this.#limits.waitingMax) throw full();
    let own = 0;
    const count = (size: number): void => {
      // A single body is always admitted: another limit bounds the size of a body.
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

  /** Runs `work` as soon as fewer than `writersMax` others run, in order of arrival. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    if (this.#writers < this.#limits.writersMax) this.#writers++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The batch that has waited longest runs next.
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
