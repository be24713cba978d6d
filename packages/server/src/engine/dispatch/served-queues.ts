// Remembers from which queues this worker has claimed runs, so that the next claim continues behind them: for each
// assistant the owner that was served last, least recently served first. The database does not store this, because claims
// would then wait for each other.

/** Assistants to remember. For a forgotten assistant, the next claim begins at any owner. */
const assistantsMax = 256;

export class ServedQueues {
  readonly #owners = new Map<string, number>();

  note({ assistant_id, owner_hash }: { assistant_id: string; owner_hash: number }): void {
    this.#owners.delete(assistant_id);
    this.#owners.set(assistant_id, owner_hash);
    for (const oldest of this.#owners.keys()) {
      if (this.#owners.size <= assistantsMax) return;
      this.#owners.delete(oldest);
    }
  }

  /** Least recently served first. */
  list(): [assistant_id: string, owner_hash: number][] {
    return [...this.#owners];
  }
}
