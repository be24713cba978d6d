// The events of one attempt on their way out. Ids are given here. Events of a run that is followed elsewhere, or
// that can be resumed, go to its log first, in the same flush as its checkpoints, and are told once they are
// durable: no client has seen what a crash could take back.
import type { Owner } from '../../storage/checkpoints.ts';
import { noItems, type BatchItems, type CommitQueue, type Writer } from '../checkpoints/commit-queue.ts';
import type { FromExecutor } from '../protocol.ts';

type Event = [event: string, data: string];

interface Batch {
  first_id: number;
  events: Event[];
  bytes: number;
}

export interface RunEventsOptions {
  run_id: string;
  lease_token: number;
  firstId: number;
  queue: CommitQueue;
  send: (message: FromExecutor, onSent?: () => void) => void;
  /** Called once when the log cannot be written. */
  onFailure: (error: Error) => void;
}

/** Bytes on their way above which whoever produces events should wait. */
const outgoingBytesMax = 256 * 1024;
/** Bytes that a run's log keeps; older events go first. */
const keptBytesMax = 10 * 1024 * 1024;

/** Names are the graph's in part (`values|node:task`); a line break in one would end it. */
const oneLine = (name: string): string => name.replaceAll(/[\r\n\0]|\p{Surrogate}/gu, ' ');

export class RunEvents implements Writer {
  readonly owner: Owner;
  readonly #options: RunEventsOptions;
  #nextId: number;
  #pending: Batch | undefined;
  /** Drained by flushes that have not been answered, in their order. */
  readonly #committing: (Batch | undefined)[] = [];
  /** Whether the next flush will drain. */
  #isQueued = false;
  #scheduled = false;
  #logged = false;
  #flushed: Promise<void> = Promise.resolve();
  #bytesOut = 0;
  #waiting: (() => void)[] = [];
  readonly #kept: { last_id: number; bytes: number }[] = [];
  #keptBytes = 0;

  constructor(options: RunEventsOptions) {
    this.#options = options;
    this.#nextId = options.firstId;
    this.owner = { owner: options.run_id, lease_token: options.lease_token };
  }

  get isLogged(): boolean {
    return this.#logged;
  }

  /** From now on events go to the log. Those before are with the server process already, or nobody asked. */
  log(): void {
    if (this.#logged) return;
    this.#tell(this.#take());
    this.#logged = true;
  }

  emit(event: string, data: string): void {
    const batch = (this.#pending ??= { first_id: this.#nextId, events: [], bytes: 0 });
    this.#nextId += 1;
    batch.events.push([oneLine(event), data]);
    batch.bytes += data.length;
    this.#bytesOut += data.length;
    this.#schedule();
  }

  /** Undefined when there is room for more events; else resolves when there is again. */
  room(): Promise<void> | undefined {
    if (this.#bytesOut < outgoingBytesMax) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends what has gathered; logged events become part of the flush that the queue opens next. */
  flush(): Promise<void> {
    if (!this.#logged) this.#tell(this.#take());
    else if (this.#pending && !this.#isQueued) this.#commit();
    return this.#flushed;
  }

  drain(): BatchItems {
    const items = noItems();
    const batch = this.#take();
    this.#isQueued = false;
    this.#committing.push(batch);
    if (batch) {
      const last_id = batch.first_id + batch.events.length - 1;
      const events = batch.events.map(([event, data]) => `${event}\n${data}\n`).join('');
      items.events.push({
        first_id: batch.first_id,
        last_id,
        events,
        keep_from: this.#keep(last_id, batch.bytes),
      });
    }
    return items;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.flush();
    });
  }

  #take(): Batch | undefined {
    const batch = this.#pending;
    this.#pending = undefined;
    return batch;
  }

  #tell(batch: Batch | undefined): void {
    if (!batch) return;
    const { run_id, lease_token, send } = this.#options;
    const { first_id, events, bytes } = batch;
    send({ kind: 'events', run_id, lease_token, first_id, events }, () => this.#left(bytes));
  }

  #left(bytes: number): void {
    this.#bytesOut -= bytes;
    if (this.#bytesOut >= outgoingBytesMax) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #commit(): void {
    this.#isQueued = true;
    this.#flushed = this.#options.queue.commit(this).then(
      () => this.#tell(this.#committing.shift()),
      (error: Error) => {
        // Told to nobody; who waits for room finds out that it was in vain.
        this.#left(this.#committing.shift()?.bytes ?? 0);
        this.#options.onFailure(error);
      },
    );
  }

  /** The id from which the log is kept once it has become too long. */
  #keep(last_id: number, bytes: number): number | null {
    this.#kept.push({ last_id, bytes });
    this.#keptBytes += bytes;
    let keep_from: number | null = null;
    while (this.#keptBytes > keptBytesMax && this.#kept.length > 1) {
      const dropped = this.#kept.shift();
      if (!dropped) break;
      this.#keptBytes -= dropped.bytes;
      keep_from = dropped.last_id + 1;
    }
    return keep_from;
  }
}
