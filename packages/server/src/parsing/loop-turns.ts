// Work of some milliseconds, one piece in each turn of the event loop: what comes of many sockets at once would otherwise be done
// one after the other in the same turn, and timers, leases and streams wait for all of it.
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
