// How many runs a worker claims at once. A worker that could not start all runs of a claim is too slow for so many, or one of the runs makes
// the start of all fail: it claims half as many, down to one, and twice as many after each claim that has started whole.

/** From this number on, the free slots are the only limit again. */
const unlimitedFrom = 500;

export class ClaimPace {
  #limit = Infinity;
  /** Runs that were claimed by this process and given back before they started. */
  unstarted = 0;

  /** True while the worker claims fewer runs than it has slots for. */
  get isLimited(): boolean {
    return this.#limit !== Infinity;
  }

  /** How many runs to claim. */
  limit(freeSlots: number): number {
    return Math.min(freeSlots, this.#limit);
  }

  /** Runs were given back before they started. */
  noteUnstarted(count: number): void {
    this.unstarted += count;
    this.#limit = Math.min(this.#limit, unlimitedFrom / 2);
  }

  /** All runs of a claim have been started or given back. Throws if some were given back, so that the next claim follows after a pause. */
  noteClaim(claimed: number, unstarted: number): void {
    if (unstarted > 0) {
      this.#limit = Math.max(1, Math.floor(claimed / 2));
      throw new Error(`${unstarted} of ${claimed} claimed runs were given back before they started`);
    }
    if (claimed === 0) return;
    this.#limit *= 2;
    if (this.#limit >= unlimitedFrom) this.#limit = Infinity;
  }
}
