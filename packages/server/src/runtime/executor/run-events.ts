// The events of one attempt on their way out. Ids are given here. Events of a run that is followed elsewhere, or that
// can be resumed, go to its log first, in the same flush as its checkpoints, and are sent to the server process once they
// are durable: no client has seen what a crash could take back.
//
// A graph does not wait when it emits, so what waits here is bounded: by `EventBudget` for all runs of the executor, and for a logged
// run by what its log would keep. The oldest events go first; ids then have a gap.
import type { Owner } from '../../storage/checkpoints.ts';
import { noItems, type BatchItems, type Writer } from '../checkpoints/commit-queue.ts';
import type { FromExecutor } from '../protocol.ts';
import type { EventBudget, WaitingEvents } from './event-budget.ts';
import { EventBuffer, type EventBatch } from './event-buffer.ts';

export interface RunEventsOptions {
  owner: Owner & { lease_token: number };
  firstId: number;
  budget: EventBudget;
  /** Makes this writer part of the next flush. */
  commit: () => Promise<void>;
  /** `onSent` is called when the message has left this process, or can never leave it. */
  send: (message: FromExecutor, onSent?: () => void) => void;
  /** Called when the log cannot be written. */
  onFailure: (error: Error) => void;
}

const kb = 1024;
/** Bytes of one message. */
const messageBytesMax = 256 * kb;
/** Bytes of a run on their way to the server process; more wait here. */
const sentBytesMax = 1024 * kb;
/** The same for events that are in the log: when the server process does not keep up, it reads them there. */
const sentFromLogBytesMax = 4 * 1024 * kb;
/** Bytes that a run's log keeps, with what waits for it; older events go first. */
const keptBytesMax = 10 * 1024 * kb;

/** Names are the graph's in part (`values|node:task`); a line break in one would end it. */
const oneLine = (name: string): string => name.replaceAll(/[\r\n\0]|\p{Surrogate}/gu, ' ');

export class RunEvents implements Writer, WaitingEvents {
  readonly owner: Owner;
  readonly #options: RunEventsOptions;
  readonly #waiting: EventBuffer;
  /** Drained by flushes that have not been answered, in their order. */
  readonly #committing: (EventBatch | undefined)[] = [];
  /** Whether the next flush will drain. */
  #isQueued = false;
  #isScheduled = false;
  #isLogged = false;
  /** The server process reads the log from now on. */
  #isLogOnly = false;
  #sentBytes = 0;
  #onEmpty: (() => void)[] = [];
  readonly #kept: { last_id: number; bytes: number }[] = [];
  #keptBytes = 0;

  constructor(options: RunEventsOptions) {
    this.#options = options;
    this.owner = options.owner;
    this.#waiting = new EventBuffer(options.firstId);
    options.budget.join(this);
  }

  get isLogged(): boolean {
    return this.#isLogged;
  }

  get droppable(): number {
    return this.#waiting.olderBytes;
  }

  dropOldest(bytes: number): number {
    return this.#waiting.drop(bytes);
  }

  /** From now on events go to the log. Those before are with the server process already, or nobody wanted them. */
  log(): void {
    if (this.#isLogged) return;
    this.#send(this.#take(Infinity));
    this.#isLogged = true;
    this.#reportEmpty();
  }

  /** Nobody reads any more: what waits is dropped, unless it is for the log. */
  mute(): void {
    if (this.#isLogged) return;
    this.#take(Infinity);
    this.#reportEmpty();
  }

  emit(event: string, data: string): void {
    const { budget } = this.#options;
    budget.add(this.#waiting.push([oneLine(event), data]));
    if (!this.#isLogged) return this.#schedule();
    const excess = this.#waiting.bytes - keptBytesMax;
    if (excess > 0) budget.remove(this.#waiting.drop(excess));
    this.#queue();
  }

  /** Resolves when all events have been handed over, to the next flush or to the server process. */
  flush(): Promise<void> {
    if (this.#isLogged) return Promise.resolve();
    this.#sendSome();
    if (this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  drain(): BatchItems {
    const items = noItems();
    this.#isQueued = false;
    const batch = this.#isLogged ? this.#take(Infinity) : undefined;
    this.#committing.push(batch);
    if (batch) {
      const last_id = batch.first_id + batch.events.length - 1;
      const events = batch.events.map(([event, data]) => `${event}\n${data}\n`).join('');
      const keep_from = this.#keep(last_id, batch.bytes);
      items.events.push({ first_id: batch.first_id, last_id, events, keep_from });
    }
    return items;
  }

  settled(isStored: boolean): void {
    const batch = this.#committing.shift();
    if (!batch || !isStored || this.#isLogOnly) return;
    if (this.#sentBytes + batch.bytes <= sentFromLogBytesMax) return this.#send(batch);
    this.#isLogOnly = true;
    const { owner, send } = this.#options;
    send({ kind: 'log_only', run_id: owner.owner, lease_token: owner.lease_token });
  }

  /** The attempt is over. */
  close(): void {
    this.#take(Infinity);
    this.#options.budget.leave(this);
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#options.commit().catch(this.#options.onFailure);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (!this.#isLogged) this.#sendSome();
    });
  }

  #sendSome(): void {
    while (this.#sentBytes < sentBytesMax && this.#waiting.length > 0)
      this.#send(this.#take(messageBytesMax));
    if (this.#waiting.length === 0) this.#reportEmpty();
  }

  #reportEmpty(): void {
    const onEmpty = this.#onEmpty;
    this.#onEmpty = [];
    for (const resolve of onEmpty) resolve();
  }

  #take(bytesMax: number): EventBatch | undefined {
    const batch = this.#waiting.take(bytesMax);
    if (batch) this.#options.budget.remove(batch.bytes);
    return batch;
  }

  #send(batch: EventBatch | undefined): void {
    if (!batch) return;
    const { owner, send } = this.#options;
    const { first_id, events, bytes } = batch;
    this.#sentBytes += bytes;
    send({ kind: 'events', run_id: owner.owner, lease_token: owner.lease_token, first_id, events }, () => {
      this.#sentBytes -= bytes;
      if (!this.#isLogged) this.#sendSome();
    });
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
