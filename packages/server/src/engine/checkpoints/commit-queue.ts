// Group commit. All items that the runs of an executor store in one turn of the event loop, or during the previous flush, are sent
// as one statement with one fsync. Per owner a flush is stored as a whole or not at all.
//
// A flush is gathered in a turn of its own (setImmediate), never in a microtask: the engine hands on its events in microtasks, so
// everything that it emitted before a checkpoint has been taken by then, and is stored with it.
import { retryWhileUnavailable } from '../../jobs/retry.ts';
import type { CheckpointBatch, CheckpointStorage, Owner } from '../../storage/deployment/checkpoints.ts';

/** The owner may no longer write: its lease was claimed again, or its thread was deleted or has another run. */
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
  summaries: [],
  events: [],
  endings: [],
});

/** Collects items to store, and keeps them until a flush is sent, so that later items can amend them. */
export interface Writer {
  readonly owner: Owner;
  /** Returns the collected items, once. */
  drain(): BatchItems;
  /** True when the last drain left items for the next flush. */
  readonly isPartial?: boolean;
  /** Whether the last drain() returned the first work of a node that this attempt stores. */
  takeProgress?(): boolean;
  /** Called once for each drain, in their order, when its flush was answered. Must not throw. */
  settled?(isStored: boolean): void;
}

/** Has the writer's items stored with the next flush. */
export type Committer = Pick<CommitQueue, 'commit'>;

interface Sent {
  lost: ReadonlySet<string>;
  drained: ReadonlySet<Writer>;
  /** Writers that have items left, and the flush that takes them next. */
  left: ReadonlyMap<Writer, Flush>;
  error?: unknown;
}

interface Flush {
  writers: Set<Writer>;
  done: Promise<Sent>;
  start: () => void;
}

/** Pauses between tries while the database is unavailable. Runs wait meanwhile; the server process ends them when their leases expire. */
const pauseMs = { first: 25, max: 1_000 };
/** Characters of events and values above which a flush takes no more writers. */
const flushSizeMax = 8 * 1024 * 1024;

export class CommitQueue {
  readonly #storage: Pick<CheckpointStorage, 'commit'>;
  #next: Flush | undefined;
  #flushing = false;

  constructor(storage: Pick<CheckpointStorage, 'commit'>) {
    this.#storage = storage;
  }

  /**
   * Makes the writer's items part of the next flush. Resolves when they are durable; rejects with LeaseLost when the
   * owner had lost its right, or with the database's error.
   */
  async commit(writer: Writer): Promise<void> {
    let flush: Flush | undefined = (this.#next ??= this.#open());
    flush.writers.add(writer);
    while (flush) {
      const { lost, drained, left, error }: Sent = await flush.done;
      if (drained.has(writer)) {
        if (error !== undefined) throw error;
        if (lost.has(writer.owner.owner)) throw new LeaseLost(writer.owner.owner);
      }
      flush = left.get(writer);
    }
  }

  #open(): Flush {
    let start!: () => void;
    const started = new Promise<void>((resolve) => (start = resolve));
    const flush: Flush = { writers: new Set(), start, done: started.then(() => this.#send(flush)) };
    if (!this.#flushing) setImmediate(start);
    return flush;
  }

  async #send(flush: Flush): Promise<Sent> {
    this.#flushing = true;
    this.#next = undefined;
    const { batch, drained, left } = this.#gather(flush.writers);
    let lost: ReadonlySet<string> = new Set();
    let error: unknown;
    try {
      lost = await this.#store(batch);
    } catch (thrown) {
      error = thrown;
    }
    this.#flushing = false;
    // Items that were added during this flush leave at once.
    if (this.#next) setImmediate((this.#next as Flush).start);
    for (const writer of drained) writer.settled?.(error === undefined && !lost.has(writer.owner.owner));
    return { lost, drained, left, error };
  }

  /** Adds the owner to each item. Items that do not fit wait for the next flush. */
  #gather(writers: Iterable<Writer>) {
    const owners: Owner[] = [];
    const items: Record<string, object[]> = noItems();
    const drained = new Set<Writer>();
    const left = new Map<Writer, Flush>();
    let size = 0;
    for (const writer of writers) {
      if (size > flushSizeMax) {
        left.set(writer, this.#addToNext(writer));
        continue;
      }
      const { owner } = writer;
      drained.add(writer);
      const own = writer.drain();
      owners.push(writer.takeProgress?.() ? { ...owner, progress: true } : owner);
      if (writer.isPartial) left.set(writer, this.#addToNext(writer));
      size += sizeOf(own);
      for (const [kind, some] of Object.entries(own)) {
        for (const item of some) items[kind]?.push({ owner: owner.owner, ...item });
      }
    }
    return { batch: { owners, ...items } as CheckpointBatch, drained, left };
  }

  #addToNext(writer: Writer): Flush {
    const next = (this.#next ??= this.#open());
    next.writers.add(writer);
    return next;
  }

  /** Repeated until the database answers. A flush that arrives twice is stored once. */
  #store(batch: CheckpointBatch): Promise<Set<string>> {
    return retryWhileUnavailable(
      async (tries) => {
        const lost = new Set(await this.#storage.commit(batch));
        // An earlier try may have been stored. Then the rows of runs that leave none behind are deleted already.
        if (tries > 1) for (const { owner } of batch.endings) lost.delete(owner);
        return lost;
      },
      { pauseMs },
    );
  }
}

const sizeOf = ({ events, blobs }: BatchItems): number => {
  let size = 0;
  for (const { events: text } of events) size += text.length;
  for (const { payload } of blobs) size += payload?.length ?? 0;
  return size;
};
