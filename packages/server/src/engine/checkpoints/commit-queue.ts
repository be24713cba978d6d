// Group commit. All items that the runs of an executor store in one turn of the event loop, or during the previous flush,
// are sent as one statement with one fsync. For each owner a flush is stored completely or not at all.
//
// A flush that no caller waits for is sent a few milliseconds later. So a run that ends before needs one flush instead of two.
//
// A flush is gathered in a macrotask (setImmediate), never in a microtask. The engine passes events on in microtasks, so
// all events that it emitted before a checkpoint have been received by then, and are stored with it.
import { retryWhileUnavailable } from '../../jobs/retry.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import type { CheckpointBatch, Owner } from '../../storage/deployment/checkpoint-rows.ts';

/** The owner has lost the right to write: its lease was claimed again, its thread was deleted, or its thread has another run. */
export class LeaseLost extends Error {
  constructor(owner: string) {
    super(`${owner} has lost the right to write`);
    this.name = 'LeaseLost';
  }
}

export type BatchItems = {
  [K in keyof Omit<CheckpointBatch, 'owners'>]: Omit<CheckpointBatch[K][number], 'owner'>[];
};

export const noItems = (): Omit<CheckpointBatch, 'owners'> => ({
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
  /** True when the last drain() returned the writes of the first node that this attempt has finished. */
  takeProgress?(): boolean;
  /** Called once for each drain, in order, when the database has answered its flush. Must not throw. */
  settled?(isStored: boolean): void;
}

/** Stores the items of a writer with the next flush. */
export type Committer = Pick<CommitQueue, 'commit'>;

interface Sent {
  lost: ReadonlySet<string>;
  drained: ReadonlySet<Writer>;
  /** Writers with items left, and the flush that takes these items. */
  left: ReadonlyMap<Writer, Flush>;
  error?: unknown;
}

interface Flush {
  writers: Set<Writer>;
  done: Promise<Sent>;
  start: () => void;
  /** True when it is sent as soon as the previous flush is answered; before, it waits for `timer`. */
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** `now`: a caller waits. `soon`: within `soonMs`. */
export type When = 'now' | 'soon';

/** Short beside a step that calls a model or another service, and longer than the engine takes for a run that does not. */
const soonMs = 5;

/**
 * Pauses between tries while the database is unavailable; runs wait meanwhile. When a lease cannot be renewed, the server process kills this
 * process before the lease ends.
 */
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
   * owner has lost the right to write, or with the database's error.
   */
  async commit(writer: Writer, when: When = 'now'): Promise<void> {
    let flush: Flush | undefined = this.#join(writer, when);
    while (flush) {
      const { lost, drained, left, error }: Sent = await flush.done;
      if (drained.has(writer)) {
        if (error !== undefined) throw error;
        if (lost.has(writer.owner.owner)) throw new LeaseLost(writer.owner.owner);
      }
      flush = left.get(writer);
    }
  }

  #join(writer: Writer, when: When): Flush {
    const flush = (this.#next ??= this.#open());
    flush.writers.add(writer);
    if (when === 'now') this.#hurry(flush);
    else if (!flush.isDue) flush.timer ??= setTimeout(() => this.#hurry(flush), soonMs);
    return flush;
  }

  #open(): Flush {
    let start!: () => void;
    const started = new Promise<void>((resolve) => (start = resolve));
    const flush: Flush = {
      writers: new Set(),
      start,
      done: started.then(() => this.#send(flush)),
      isDue: false,
      timer: undefined,
    };
    return flush;
  }

  #hurry(flush: Flush): void {
    if (flush.isDue) return;
    flush.isDue = true;
    clearTimeout(flush.timer);
    if (!this.#flushing) setImmediate(flush.start);
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
    // Items that were added during this flush are sent at once if a caller waits for them.
    const next = this.#next as Flush | undefined;
    if (next?.isDue) setImmediate(next.start);
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
        left.set(writer, this.#join(writer, 'now'));
        continue;
      }
      const { owner } = writer;
      drained.add(writer);
      const own = writer.drain();
      owners.push(writer.takeProgress?.() ? { ...owner, progress: true } : owner);
      if (writer.isPartial) left.set(writer, this.#join(writer, 'now'));
      size += sizeOf(own);
      for (const [kind, some] of Object.entries(own)) {
        for (const item of some) items[kind]?.push({ owner: owner.owner, ...item });
      }
    }
    return { batch: { owners, ...items } as CheckpointBatch, drained, left };
  }

  /** Repeats the flush until the database answers. Items that arrive twice are stored once. */
  #store(batch: CheckpointBatch): Promise<Set<string>> {
    return retryWhileUnavailable(async () => new Set(await this.#storage.commit(batch)), { pauseMs });
  }
}

const sizeOf = ({ events, blobs }: BatchItems): number => {
  let size = 0;
  for (const { events: text } of events) size += text.length;
  for (const { payload } of blobs) size += payload?.length ?? 0;
  return size;
};
