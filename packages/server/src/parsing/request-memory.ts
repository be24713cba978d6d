// Limits the memory of large request bodies and responses. A body is counted from before it is read until its request is answered; a
// response while it is read from the database and while it is sent. A request that does not fit waits, and is rejected after a time.
import { Problem } from '@svc/contract/problem';

export interface RequestMemoryOptions {
  bytesMax: number;
  waitMs?: number;
  /** Requests that wait at once. */
  waitingMax?: number;
  /** Called when memory was released. */
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

  /** Waits for memory. Returns a function that releases it; further calls of it do nothing. Throws `unavailable` after `waitMs`. */
  async hold(bytes: number): Promise<() => void> {
    if (this.#fits(bytes) && (this.#waiting.length === 0 || bytes <= smallBytes)) return this.count(bytes);
    await this.#wait(bytes);
    return this.#releaseOf(bytes);
  }

  /** Counts memory that is in use already: does not wait, but makes others wait. */
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
      // In a later turn of the event loop: a response that was read is counted again while it is sent.
      setImmediate(() => this.#admit());
    };
  }

  /** A single body always fits: its own limit bounds it. */
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
  new Problem('unavailable', 'The memory for large requests is in use; send the request again later.');
