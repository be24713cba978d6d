import { Problem } from '@svc/contract/problem';

/** Lets a limited number of searches run at a time; the others wait in their order. */
export class Turns {
  #free: number;
  readonly #waitMsMax: number;
  readonly #waiting = new Set<() => void>();

  constructor(max: number, waitMsMax: number) {
    this.#free = max;
    this.#waitMsMax = waitMsMax;
  }

  /** Throws `unavailable` when the turn does not come in time. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#begin();
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  #begin(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(begin);
        reject(new Problem('unavailable', 'Too many searches are running. Try again shortly'));
      }, this.#waitMsMax);
      this.#waiting.add(begin);
    });
  }

  #end(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
