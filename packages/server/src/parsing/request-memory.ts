// Memory for large request bodies and answers. A body is counted from before it is read until its request is answered; an answer
// while it is read from the database, and while it is sent. A request that does not fit waits, and is refused when that takes too
// long.
import { Problem } from '@svc/contract/problem';

export interface RequestMemoryOptions {
  bytesMax: number;
  waitMs?: number;
  /** Requests that wait at once. */
  waitingMax?: number;
  /** Called when memory was given back. */
  onReleased?: () => void;
}

interface Waiting {
  bytes: number;
  resolve: () => void;
  reject: (problem: Problem) => void;
}

/** Smaller bodies do not wait behind larger ones. */
const smallBytes = 1_048_576;

export class RequestMemory {
  readonly #options: Required<RequestMemoryOptions>;
  readonly #waiting: Waiting[] = [];
  #used = 0;

  constructor(options: RequestMemoryOptions) {
    this.#options = { waitMs: 10_000, waitingMax: 200, onReleased: () => undefined, ...options };
  }

  get used(): number {
    return this.#used;
  }

  /** Returns what gives the memory back; called more than once it does nothing. Throws `unavailable` after a while. */
  async hold(bytes: number): Promise<() => void> {
    if (this.#fits(bytes) && (this.#waiting.length === 0 || bytes <= smallBytes)) return this.count(bytes);
    await this.#wait(bytes);
    return this.#releaseOf(bytes);
  }

  /** The same for memory that is in use already: it does not wait, and others wait for it. */
  count(bytes: number): () => void {
    this.#used += bytes;
    return this.#releaseOf(bytes);
  }

  #releaseOf(bytes: number): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#used -= bytes;
      this.#options.onReleased();
      // In a later turn: an answer that was read is counted again while it is sent.
      setImmediate(() => this.#admit());
    };
  }

  /** One body alone is never too much: its own limit bounds it. */
  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#options.bytesMax;
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.bytes;
      next.resolve();
    }
  }

  #wait(bytes: number): Promise<void> {
    const { waitMs, waitingMax } = this.#options;
    if (this.#waiting.length >= waitingMax) throw full();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        bytes,
        resolve: () => {
          clearTimeout(timer);
          resolve();
        },
        reject,
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(full());
        this.#admit();
      }, waitMs);
      this.#waiting.push(waiting);
    });
  }
}

const full = (): Problem =>
  new Problem(
    'unavailable',
    'More large requests are being read than fit in memory (SVC_REQUEST_MEMORY); send the request again.',
  );
