// Sends and stores the events of one attempt, and assigns their ids. Events of a run that is resumable, or that another
// node follows, are first stored in the run log, in the same flush as the checkpoints, and then sent to the server
// process. So no client gets an event that a crash could undo.
//
//   emit ─▶ waiting ─┬─ live ─────────────────────────────────────▶ sent ─▶ acknowledged
//                    └─ logged ─▶ committing ─▶ stored ───────────▶ sent ─▶ acknowledged
//
// The server process acknowledges events when its readers have consumed them, or after a timeout. Until then further
// events wait here. A graph does not wait when it emits, so `EventBudget` bounds the waiting and the stored events of all
// runs of the executor. Above the bound, stored events are not sent (the server process reads them from the log), and the
// oldest waiting events are dropped, which leaves a gap in the ids.
import { onAbort } from '../../../abort.ts';
import type { Owner } from '../../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { noItems, type BatchItems, type Writer } from '../../checkpoints/commit-queue.ts';
import type { SendToServer } from '../runs/run-tools.ts';
import type { EventBudget, WaitingEvents } from './event-budget.ts';
import { EventBuffer, type EventBatch, type NamedEvent } from './event-buffer.ts';

export interface RunEventWriterOptions {
  owner: Owner & { lease_token: number };
  firstId: number;
  budget: EventBudget;
  /** Makes this writer part of the next flush. */
  commit: () => Promise<void>;
  send: SendToServer;
  /** Called when the log cannot be written. */
  onFailure: (error: Error) => void;
}

const kb = 1024;
/** Bytes of one message, and of one row of the log. */
const messageBytesMax = 128 * kb;
/**
 * Bytes that may be sent and not acknowledged; further events wait here. Less than what the server buffers for a client.
 */
const sentBytesMax = 256 * kb;
/** Bytes after which an acknowledgement is requested. */
const ackBytes = 128 * kb;
/** Bytes that a run's log keeps; the oldest events are deleted first. */
const keptBytesMax = 10 * 1024 * kb;
/** When more bytes wait, the oldest events are stored in flushes without checkpoints, of about this size. */
const aheadBytesMax = 4 * 1024 * kb;
/**
 * Events that are emitted in one turn of the event loop are sent together at its end. In a longer turn, the first ones of the run are sent after
 * `firstTurnMs`, and later ones after `turnMs`. The second time is longer because every message costs both processes time.
 */
const firstTurnMs = 5;
const turnMs = 20;
/** Flushes without checkpoints in a row: the checkpoints wait for them. */
const aheadMax = 16;

/** An event that a node emits while it executes. All others report a checkpoint or writes, and are stored with them. */
const isMidStep = ([event]: NamedEvent): boolean => /^(custom|messages|events|tools)(?![^|/])/.test(event);

/** Parts of a name come from the graph (`values|node:task`). A line break would end the name. */
const oneLine = (name: string): string => name.replaceAll(/[\r\n\0]|\p{Surrogate}/gu, ' ');

export class RunEventWriter implements Writer, WaitingEvents {
  readonly owner: Owner;
  readonly #options: RunEventWriterOptions;
  readonly #waiting: EventBuffer;
  /** Batches of the flushes that have not been answered, in order. */
  readonly #committing: EventBatch[][] = [];
  /** In the log, and not sent yet. */
  #stored: EventBatch[] = [];
  #storedBytes = 0;
  /** Flushes without checkpoints since the last one with them. */
  #ahead = 0;
  /** True when the next flush will drain this writer. */
  #isQueued = false;
  #isScheduled = false;
  #scheduledMs = 0;
  #hasSent = false;
  #isClosed = false;
  #isLogged = false;
  /** The server process reads the log from now on. */
  #isLogOnly = false;
  #sentBytes = 0;
  #sentSinceAck = 0;
  #onEmpty: (() => void)[] = [];
  readonly #kept: { last_id: number; bytes: number }[] = [];
  #keptBytes = 0;

  constructor(options: RunEventWriterOptions) {
    this.#options = options;
    this.owner = options.owner;
    this.#waiting = new EventBuffer(options.firstId);
    options.budget.join(this);
  }

  get isLogged(): boolean {
    return this.#isLogged;
  }

  get droppable(): number {
    return Math.max(this.#storedBytes, this.#waiting.olderBytes);
  }

  /** Drops stored events first: readers still get them from the log. */
  dropOldest(bytes: number): number {
    if (this.#storedBytes === 0) return this.#waiting.drop(bytes);
    const stored = this.#storedBytes;
    this.#leaveToLog();
    return stored;
  }

  /** True when more waits than one flush should take, and the oldest event belongs to no checkpoint. */
  get goesAhead(): boolean {
    const { oldest, bytes } = this.#waiting;
    const isMuch = this.#isLogged && bytes > aheadBytesMax && this.#ahead < aheadMax;
    return isMuch && oldest !== undefined && isMidStep(oldest);
  }

  /** Stores events in the log from now on. Events that wait are sent before. */
  log(): void {
    if (this.#isLogged) return;
    const batch = this.#take(Infinity);
    if (batch) this.#send(batch);
    this.#isLogged = true;
    this.#reportEmpty();
  }

  /** The events have no reader any more: waiting events are dropped, unless the run is logged. */
  dropUnlogged(): void {
    if (this.#isLogged) return;
    this.#take(Infinity);
    this.#reportEmpty();
  }

  emit(event: string, data: string): void {
    if (this.#isClosed) return;
    this.#options.budget.add(this.#waiting.push([oneLine(event), data]));
    if (this.#isLogged) this.#queue();
    else this.#schedule();
  }

  /** Readers have consumed these bytes, or the wait for them timed out. */
  acknowledge(bytes: number): void {
    this.#sentBytes -= bytes;
    this.#sendSome();
  }

  /**
   * Sends the last events of a run that is not logged, before its end is stored: after that it has no lease, and its
   * messages are ignored. Waits for readers until `late` is aborted, then sends the rest at once.
   */
  async deliver(late: AbortSignal): Promise<void> {
    if (this.#isLogged) return;
    this.#sendSome();
    if (!this.#isEmpty()) await this.#untilEmpty(late);
    if (this.#isLogged) return;
    for (let batch = this.#take(messageBytesMax); batch; batch = this.#take(messageBytesMax))
      this.#send(batch);
  }

  /** Called when the end of a logged run is stored. The server process reads unsent events from the log. */
  leaveRestToLog(): void {
    if (this.#stored.length === 0) return;
    this.#options.budget.remove(this.#storedBytes);
    this.#leaveToLog();
  }

  drain(): BatchItems {
    this.#isQueued = false;
    this.#ahead = 0;
    return this.#drain(Infinity);
  }

  /** Takes the oldest events, up to the first that belongs to a checkpoint. */
  drainAhead(): BatchItems {
    this.#ahead += 1;
    return this.#drain(aheadBytesMax, isMidStep);
  }

  #drain(bytesMax: number, mayTake?: (event: NamedEvent) => boolean): BatchItems {
    const items: BatchItems = noItems();
    const batches: EventBatch[] = [];
    for (let size = 0; this.#isLogged && size < bytesMax;) {
      const { oldest } = this.#waiting;
      if (!oldest || mayTake?.(oldest) === false) break;
      const batch = this.#take(messageBytesMax, mayTake);
      if (!batch) break;
      batches.push(batch);
      size += batch.bytes;
      const { first_id, bytes } = batch;
      const last_id = first_id + batch.events.length - 1;
      const events = batch.events.map(([event, data]) => `${event}\n${data}\n`).join('');
      items.events.push({ first_id, last_id, events, keep_from: this.#keep(last_id, bytes) });
    }
    this.#committing.push(batches);
    return items;
  }

  settled(error: Error | undefined): void {
    const batches = this.#committing.shift() ?? [];
    if (error) return this.#dropAfter(batches[0]?.first_id);
    if (this.#isLogOnly || this.#isClosed) return;
    let bytes = 0;
    for (const batch of batches) bytes += batch.bytes;
    this.#stored.push(...batches);
    this.#storedBytes += bytes;
    this.#options.budget.add(bytes);
    this.#sendSome();
  }

  /**
   * The attempt has ended. Events for the log are still stored, because the checkpoints that they belong to are; they are not sent. Other
   * events are dropped.
   */
  close(): void {
    this.#isClosed = true;
    if (!this.#isLogged) this.#take(Infinity);
    this.#options.budget.remove(this.#storedBytes);
    this.#storedBytes = 0;
    this.#stored = [];
    this.#options.budget.leave(this);
  }

  /** Events from this id on are not in the log, and the checkpoints that they belong to are not stored. Later events get their ids. */
  #dropAfter(first_id = this.#waiting.firstId): void {
    if (!this.#isLogged) return;
    this.#take(Infinity);
    this.#waiting.continueAt(first_id);
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    this.#options.commit().catch(this.#options.onFailure);
  }

  #schedule(): void {
    const nowMs = performance.now();
    if (this.#isScheduled) {
      if (nowMs - this.#scheduledMs < (this.#hasSent ? turnMs : firstTurnMs)) return;
      this.#scheduledMs = nowMs;
      this.#sendSome(true);
      return;
    }
    this.#scheduledMs = nowMs;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendSome();
    });
  }

  #sendSome(isUrgent = false): void {
    while (this.#sentBytes < sentBytesMax) {
      const batch = this.#isLogged ? this.#stored.shift() : this.#take(messageBytesMax);
      if (!batch) break;
      if (this.#isLogged) {
        this.#storedBytes -= batch.bytes;
        this.#options.budget.remove(batch.bytes);
      }
      this.#send(batch, isUrgent);
    }
    if (this.#isEmpty()) this.#reportEmpty();
  }

  #isEmpty(): boolean {
    return (this.#isLogged ? this.#stored : this.#waiting).length === 0;
  }

  #untilEmpty(late: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stopWaiting = onAbort(late, resolve);
      this.#onEmpty.push(() => {
        stopWaiting();
        resolve();
      });
    });
  }

  #reportEmpty(): void {
    const onEmpty = this.#onEmpty;
    this.#onEmpty = [];
    for (const resolve of onEmpty) resolve();
  }

  #leaveToLog(): void {
    this.#isLogOnly = true;
    this.#stored = [];
    this.#storedBytes = 0;
    const { owner, send } = this.#options;
    send({ kind: 'log_only', run_id: owner.owner, lease_token: owner.lease_token });
    this.#reportEmpty();
  }

  #take(bytesMax: number, mayTake?: (event: NamedEvent) => boolean): EventBatch | undefined {
    const batch = this.#waiting.take(bytesMax, mayTake);
    if (batch) this.#options.budget.remove(batch.bytes);
    return batch;
  }

  #send({ first_id, events, bytes }: EventBatch, isUrgent = false): void {
    const { owner, send } = this.#options;
    this.#hasSent = true;
    this.#sentBytes += bytes;
    this.#sentSinceAck += bytes;
    const ack = this.#sentSinceAck;
    const wantsAck = ack >= ackBytes;
    if (wantsAck) this.#sentSinceAck = 0;
    const ids = { run_id: owner.owner, lease_token: owner.lease_token, first_id };
    send({ kind: 'events', ...ids, events, ...(wantsAck ? { ack } : {}) }, isUrgent);
  }

  /** The id of the oldest event to keep when the log has become too long; otherwise null. */
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
