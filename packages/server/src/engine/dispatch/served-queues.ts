// Which queues of runs this worker has claimed from, so that the next claim goes on behind them: of each assistant the owner
// that was served last, in the order of service. The database keeps no such state: claims would wait for each other.

/** Assistants to remember. Of one that is forgotten, the next claim begins at any owner. */
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

  /** In the order of service. */
  list(): [assistant_id: string, owner_hash: number][] {
    return [...this.#owners];
  }
}
