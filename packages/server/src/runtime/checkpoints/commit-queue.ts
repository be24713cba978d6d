// Group commit. Whatever the runs of an executor have to store within one turn of the event loop, or while
// the previous flush is on its way, goes out as one statement and one fsync. Per owner a flush is all or nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type { CheckpointBatch, CheckpointStorage, Owner } from '../../storage/checkpoints.ts';

/** The owner may no longer write: its lease went to someone else, or its thread is gone or taken. */
export class LeaseLost extends Error {
  constructor(owner: string) {
    super(`${owner} may no longer write`);
    this.name = 'LeaseLost';
  }
}

export type BatchItems = {
  [K in keyof Omit<CheckpointBatch, 'owners'>]: Omit<CheckpointBatch[K][number], 'owner'>[];
};

export const noItems = (): BatchItems => ({
  heads: [],
  blobs: [],
  checkpoints: [],
  writes: [],
  shapes: [],
  events: [],
  endings: [],
});

/** Something with items to store. It keeps them until a flush leaves, so that later ones can still amend them. */
export interface Writer {
  readonly owner: Owner;
  /** Hands over what has gathered. */
  drain(): BatchItems;
}

interface Flush {
  writers: Set<Writer>;
  done: Promise<Set<string>>;
  start: () => void;
}

/** While the database is away, runs wait where they are: the server process ends them if their leases run out. */
const retryMs = { first: 25, max: 1_000 };

export class CommitQueue {
  readonly #storage: Pick<CheckpointStorage, 'commit'>;
  #next: Flush | undefined;
  #flushing = false;

  constructor(storage: Pick<CheckpointStorage, 'commit'>) {
    this.#storage = storage;
  }

  /**
   * Asks for the writer's items to be part of the next flush. Resolves when they are durable; rejects with
   * LeaseLost when the owner had lost its right, or with the database's error.
   */
  async commit(writer: Writer): Promise<void> {
    const flush = (this.#next ??= this.#open());
    flush.writers.add(writer);
    const lost = await flush.done;
    if (lost.has(writer.owner.owner)) throw new LeaseLost(writer.owner.owner);
  }

  #open(): Flush {
    let start!: () => void;
    const started = new Promise<void>((resolve) => (start = resolve));
    const flush: Flush = { writers: new Set(), start, done: started.then(() => this.#send(flush)) };
    if (!this.#flushing) setImmediate(start);
    return flush;
  }

  async #send(flush: Flush): Promise<Set<string>> {
    this.#flushing = true;
    this.#next = undefined;
    try {
      return await this.#store(gather(flush.writers));
    } finally {
      this.#flushing = false;
      // What gathered meanwhile has waited long enough.
      (this.#next as Flush | undefined)?.start();
    }
  }

  /** Tried until the database has answered. A flush that comes twice is stored once. */
  async #store(batch: CheckpointBatch): Promise<Set<string>> {
    for (let delayMs = retryMs.first; ; delayMs = Math.min(delayMs * 2, retryMs.max)) {
      try {
        const lost = new Set(await this.#storage.commit(batch));
        // The rows of runs that leave none behind are gone when their endings come a second time.
        if (delayMs > retryMs.first) for (const { owner } of batch.endings) lost.delete(owner);
        return lost;
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'unavailable') throw error;
        await sleep(delayMs);
      }
    }
  }
}

/** Each item says whose it is. */
const gather = (writers: Iterable<Writer>): CheckpointBatch => {
  const owners: Owner[] = [];
  const items: Record<string, object[]> = noItems();
  for (const writer of writers) {
    const { owner } = writer;
    owners.push(owner);
    for (const [kind, drained] of Object.entries(writer.drain())) {
      for (const item of drained) items[kind]?.push({ owner: owner.owner, ...item });
    }
  }
  return { owners, ...items } as CheckpointBatch;
};
