// Combines the checkpoints and the events of one run into one writer, so that a flush stores them together. Only when
// more events wait than one flush should take, the oldest events are stored first, up to the first that belongs to a
// checkpoint.
//
// The engine calls `putWrites` and emits the `updates` of the task in one synchronous section, and a flush is gathered in a macrotask. So no
// checkpoint is stored without the events that the engine emitted before it, and no `updates` before its writes.
import type { BatchItems, Committer, When, Writer } from './commit-queue.ts';
import type { LargestValue } from './checkpoint-not-stored.ts';
import type { Owner } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';

export interface EventItemWriter extends Writer {
  /** True when the oldest events should be stored in a flush without checkpoints. */
  readonly goesAhead: boolean;
  /** Returns the items of such a flush. */
  drainAhead(): BatchItems;
}

export class JointWriter implements Writer, Committer {
  readonly owner: Owner;
  readonly #queue: Committer;
  readonly #events: EventItemWriter;
  /** The writer of the checkpoints. Undefined for a stateless run. */
  session: Writer | undefined;
  /** The sessions that the drains took items of, in order. */
  readonly #drained: (Writer | undefined)[] = [];
  isPartial = false;

  constructor(queue: Committer, events: EventItemWriter) {
    this.owner = events.owner;
    this.#queue = queue;
    this.#events = events;
  }

  /** Resolves when the items of both are stored. */
  commit(_: Writer, when?: When): Promise<void> {
    return this.#queue.commit(this, when);
  }

  drain(): BatchItems {
    this.isPartial = this.#events.goesAhead;
    const session = this.isPartial ? undefined : this.session;
    const items = this.isPartial ? this.#events.drainAhead() : this.#events.drain();
    this.#drained.push(this.session);
    return session ? { ...session.drain(), events: items.events } : items;
  }

  takeProgress(): boolean {
    return this.session?.takeProgress?.() ?? false;
  }

  takenInputs(): readonly string[] | undefined {
    return this.session?.takenInputs?.();
  }

  largest(): LargestValue | undefined {
    return this.session?.largest?.();
  }

  /** Both are stored, or neither: items that wait depend on those that were not stored. */
  settled(error: Error | undefined): void {
    this.#events.settled?.(error);
    this.#drained.shift()?.settled?.(error);
  }
}
