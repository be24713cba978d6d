// Group commit. All items that the runs of an executor store in one turn of the event loop, or during the previous flush,
// are sent as one statement with one fsync. For each owner a flush is stored completely or not at all.
//
//   commit ─▶ next flush ─┬─ up to 8 MB of items ─▶ one statement ─┬─▶ stored, or lost, by owner
//                         │                                        └─ refused, or slow ─▶ one statement for each writer
//                         └─ a writer with more ─▶ a statement of its own, while further flushes are sent
//
// The queue does not use GroupedWrites (storage/postgres/grouped-writes.ts): items may change until they are sent, and the database checks
// the lease of each owner.
//
// A flush that no caller waits for is sent a few milliseconds later. So a run that ends before needs one flush instead of two.
//
// A flush is gathered in a macrotask (setImmediate), never in a microtask. The engine passes events on in microtasks, so
// all events that it emitted before a checkpoint have been received by then, and are stored with it.
import type { FlushTrouble } from '../dispatch/protocol.ts';
import { retry } from '../../backoff.ts';
import { isSlow, isUnavailable } from '../../storage/postgres/sql-state.ts';
import { type LargestValue, notStoredError } from './checkpoint-not-stored.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints/checkpoints.ts';
import type { CheckpointBatch, Owner } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';

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
  /** Ids of the inputs that the items of the last drain() contain. */
  takenInputs?(): readonly string[] | undefined;
  /** The largest value of the last drain. */
  largest?(): LargestValue | undefined;
  /** Called once for each drain, in order, when it is known whether its items are stored. `error`: they are not. Must not throw. */
  settled?(error: Error | undefined): void;
}

/** Stores the items of a writer with the next flush. */
export type Committer = Pick<CommitQueue, 'commit'>;

/** The items of one writer in one flush. */
interface Part {
  writer: Writer;
  owner: Owner;
  items: BatchItems;
  /** Characters of events and values. */
  size: number;
}

/** Why the items of a writer are not stored; undefined when they are. */
type Outcome = Error | undefined;

/** `unanswered`: the error of a try that may have been stored, because its connection ended. */
interface Tries {
  unanswered: unknown;
}

interface Sent {
  outcomes: ReadonlyMap<Writer, Outcome | Promise<Outcome>>;
  /** Writers with items left, and the flush that takes these items. */
  left: ReadonlyMap<Writer, Flush | Promise<Flush>>;
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

/** Pauses between tries while the database is unavailable; runs wait meanwhile. */
const pauseMs = { first: 25, max: 1_000 };
/**
 * When leases cannot be renewed, the server process kills this process before they end, which is usually earlier. Shorter than the records of
 * stored ends are kept (`endingsKeptMs`).
 */
const repeatMsDefault = 10 * 60_000;
/** How often a flush is sent that PostgreSQL ends because of a time limit. */
const slowTriesMax = 3;
/** Characters of events and values above which a flush takes no more writers, and a writer is sent alone. */
const flushSizeMax = 8 * 1024 * 1024;

export interface CommitQueueOptions {
  /** Called for each flush that is not stored with the first try. Must not throw. */
  onTrouble?: (trouble: FlushTrouble) => void;
  /** How long a flush is repeated during an outage. */
  repeatMs?: number;
}

export class CommitQueue {
  readonly #storage: Pick<CheckpointStorage, 'commit'>;
  readonly #onTrouble: (trouble: FlushTrouble) => void;
  readonly #repeatMs: number;
  #next: Flush | undefined;
  #flushing = false;
  /** Writers that are sent alone at the moment. Their further items wait. */
  readonly #alone = new Map<string, Promise<Outcome>>();
  #lastAlone: Promise<unknown> = Promise.resolve();

  constructor(
    storage: Pick<CheckpointStorage, 'commit'>,
    { onTrouble = () => undefined, repeatMs = repeatMsDefault }: CommitQueueOptions = {},
  ) {
    this.#storage = storage;
    this.#repeatMs = repeatMs;
    this.#onTrouble = onTrouble;
  }

  /**
   * Makes the writer's items part of the next flush. Resolves when they are durable; rejects with LeaseLost when the
   * owner has lost the right to write, or with the error that kept its items from being stored.
   */
  async commit(writer: Writer, when: When = 'now'): Promise<void> {
    let flush: Flush | undefined = this.#join(writer, when);
    while (flush) {
      const { outcomes, left }: Sent = await flush.done;
      const error = await outcomes.get(writer);
      if (error) throw error;
      flush = await left.get(writer);
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
    const { parts, failed, left } = this.#gather(flush.writers);
    const outcomes = new Map<Writer, Outcome | Promise<Outcome>>(failed);
    for (const [writer, error] of failed) writer.settled?.(error);
    for (const part of parts) if (part.size > flushSizeMax) outcomes.set(part.writer, this.#sendAlone(part));
    const stored = await this.#store(parts.filter(({ size }) => size <= flushSizeMax));
    this.#flushing = false;
    // Items that were added during this flush are sent at once if a caller waits for them.
    const next = this.#next as Flush | undefined;
    if (next?.isDue) setImmediate(next.start);
    for (const [writer, error] of stored) {
      outcomes.set(writer, error);
      writer.settled?.(error);
    }
    return { outcomes, left };
  }

  /** Takes the items of the writers. What has to wait is left for a later flush. */
  #gather(writers: Iterable<Writer>) {
    const parts: Part[] = [];
    const failed = new Map<Writer, Error>();
    const left = new Map<Writer, Flush | Promise<Flush>>();
    /** Two attempts of one run, or two updates of one thread, are judged one after the other. */
    const taken = new Set<string>();
    let size = 0;
    for (const writer of writers) {
      const key = keyOf(writer.owner);
      const alone = this.#alone.get(key);
      if (alone) {
        left.set(
          writer,
          alone.then(() => this.#join(writer, 'now')),
        );
        continue;
      }
      if (size > flushSizeMax || taken.has(key)) {
        left.set(writer, this.#join(writer, 'now'));
        continue;
      }
      taken.add(key);
      try {
        const part = partOf(writer);
        parts.push(part);
        size += part.size;
        if (writer.isPartial) left.set(writer, this.#join(writer, 'now'));
      } catch (error) {
        failed.set(writer, error as Error);
      }
    }
    return { parts, failed, left };
  }

  /** Sends the items of a large writer after those of earlier ones, while flushes of other writers are sent. */
  #sendAlone(part: Part): Promise<Outcome> {
    const { writer } = part;
    const key = keyOf(writer.owner);
    const outcome = this.#lastAlone.then(async () => {
      const error = (await this.#store([part])).get(writer);
      this.#alone.delete(key);
      writer.settled?.(error);
      return error;
    });
    this.#alone.set(key, outcome);
    this.#lastAlone = outcome;
    return outcome;
  }

  /**
   * Stores the parts with one statement. When the database refuses it, or was too slow for it several times, each part is sent alone, the
   * smallest first: the fault of one writer must not reach another one.
   */
  async #store(parts: Part[]): Promise<Map<Writer, Outcome>> {
    if (parts.length === 0) return new Map();
    const tries: Tries = { unanswered: undefined };
    try {
      return await this.#transmit(parts, tries);
    } catch (error) {
      const isOfAll = isUnavailable(error) && !isSlow(error);
      if (parts.length === 1 || isOfAll) return this.#refuse(parts, error);
    }
    this.#onTrouble('split');
    const outcomes = new Map<Writer, Outcome>();
    for (const part of parts.toSorted((a, b) => a.size - b.size)) {
      const own = await this.#transmit([part], tries).catch((error: unknown) => this.#refuse([part], error));
      for (const [writer, outcome] of own) outcomes.set(writer, outcome);
    }
    return outcomes;
  }

  #refuse(parts: Part[], error: unknown): Map<Writer, Outcome> {
    return new Map(
      parts.map(({ writer, size }) => {
        this.#onTrouble('failed');
        return [writer, notStoredError(error, size, writer.largest?.())];
      }),
    );
  }

  /**
   * Repeats the statement until the database answers. Items that arrive twice are stored once. When the statement of one writer stays too slow,
   * throws the error of an earlier try whose connection ended, if there was one: that try may have stored the items.
   */
  async #transmit(parts: Part[], tries: Tries): Promise<Map<Writer, Outcome>> {
    const batch = batchOf(parts);
    let slow = 0;
    const lost = await retry(async () => new Set(await this.#storage.commit(batch)), {
      pauseMs,
      forMs: this.#repeatMs,
      when: (error) => {
        if (isSlow(error)) return (slow += 1) < slowTriesMax;
        if (isUnavailable(error)) tries.unanswered = error;
        return isUnavailable(error);
      },
      onError: () => this.#onTrouble('repeated'),
    }).catch((error: unknown) => {
      throw parts.length === 1 && isSlow(error) ? (tries.unanswered ?? error) : error;
    });
    return new Map(
      parts.map(({ writer, owner: { owner } }) => [
        writer,
        lost.has(owner) ? new LeaseLost(owner) : undefined,
      ]),
    );
  }
}

/** Writers with the same key must not be in one statement. */
const keyOf = ({ owner, thread_id }: Owner): string => thread_id ?? owner;

const partOf = (writer: Writer): Part => {
  const items = writer.drain();
  const taken = writer.takenInputs?.();
  const owner = {
    ...writer.owner,
    ...(writer.takeProgress?.() ? { progress: true } : {}),
    ...(taken ? { taken } : {}),
  };
  return { writer, owner, items, size: sizeOf(items) };
};

/** Adds the owner to each item. */
const batchOf = (parts: Part[]): CheckpointBatch => {
  const items: Record<string, object[]> = noItems();
  for (const { owner, items: own } of parts) {
    for (const [kind, some] of Object.entries(own)) {
      for (const item of some) items[kind]?.push({ owner: owner.owner, ...item });
    }
  }
  return { owners: parts.map(({ owner }) => owner), ...items } as CheckpointBatch;
};

const sizeOf = ({ events, blobs }: BatchItems): number => {
  let size = 0;
  for (const { events: text } of events) size += text.length;
  for (const { payload } of blobs) size += payload?.length ?? 0;
  return size;
};
