// Limits work of some milliseconds to one piece in each turn of the event loop. Otherwise the work for many sockets could be done in
// the same turn, and would delay timers, leases and streams.
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  /** Resolves when the caller may do its work, in this turn of the event loop or a later one. */
  next(): Promise<void> {
    if (this.#isTaken) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    setImmediate(() => this.#release());
    return Promise.resolve();
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (!next) return void (this.#isTaken = false);
    next();
    setImmediate(() => this.#release());
  }
}
