import type { EventWriter, StreamEvent } from '../../../api/handlers.ts';
import { changeOverlapMs } from '../../../storage/deployment/run-changes.ts';
import { microsOf, timeMs, timeOfMicros } from '../../../time.ts';
import { hashOf, readEventId, type FeedPosition, type RunVersion } from './feed-position.ts';
import { SentChanges } from './sent-changes.ts';

export interface FedEvent {
  version: RunVersion;
  event: StreamEvent;
}

/**
 * `new`: has no position. `catching_up`: has one, and may have missed changes. `live`: is sent all changes. `backpressured`: reads slowly, and
 * is sent nothing until it has read everything; then it is `catching_up`.
 */
type State = 'new' | 'catching_up' | 'live' | 'backpressured' | 'gone';

/** Passes for which changes that were sent to catch up can be found again. */
const overlappingPasses = 2;

export class FeedReader {
  readonly #sink: EventWriter;
  readonly #onDrained: (reader: FeedReader) => void;
  #state: State;
  #lastEventId: string | undefined;
  #sentAtMs = performance.now();
  #position: FeedPosition | undefined;
  /** What the reader was sent to catch up. */
  #missed: SentChanges | undefined;
  #overlappingPasses = 0;
  /** Counts how often the reader was backpressured: a catch-up that began earlier lacks changes. */
  #epoch = 0;

  /** `onDrained`: called when a reader that was backpressured has read everything. */
  constructor(sink: EventWriter, lastEventId: string | undefined, onDrained: (reader: FeedReader) => void) {
    this.#sink = sink;
    this.#onDrained = onDrained;
    this.#lastEventId = lastEventId;
    this.#state = lastEventId === undefined ? 'new' : 'catching_up';
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** False when the reader was not sent all changes of a catch-up that began in the epoch. */
  isCatchingUp(epoch: number): boolean {
    return this.#state === 'catching_up' && this.#epoch === epoch;
  }

  /**
   * Where the reader continues, if the changes since then can be sent. Otherwise the reader is live, and was sent its first position, or that
   * it may have missed changes. `id`: of the position that the reader has then.
   */
  begin(now: { readAt: string; id: string; replayMs: number }): string | undefined {
    const position = this.#lastEventId === undefined ? undefined : readEventId(this.#lastEventId);
    if (position && isReplayable(position, now)) {
      this.#position = position;
      // A reader that was backpressured while it caught up has been sent more than its position says.
      this.#missed ??= new SentChanges(position.sent);
      return position.readAt;
    }
    const isNew = this.#state === 'new';
    this.#missed = undefined;
    this.#state = 'live';
    this.#send([isNew ? positionEvent : gapEvent], now.id);
    return undefined;
  }

  /** Sends changes that the reader has missed. `epoch`: of the reader when its catch-up began. */
  sendMissed(events: readonly FedEvent[], epoch: number): void {
    const missed = this.#missed;
    const position = this.#position;
    if (!this.isCatchingUp(epoch) || !missed || !position) return;
    const since = timeOfMicros(microsOf(position.readAt) - BigInt(changeOverlapMs) * 1_000n);
    const fresh = events.filter(({ version }) => version.updated_at >= since && missed.add(version));
    this.#send(
      fresh.map(({ event }) => event),
      missed.eventId(position.readAt),
    );
  }

  /** Makes the reader live. `hasAll`: the reader has been sent all that it has missed. */
  catchUp(epoch: number, hasAll: boolean): void {
    if (!this.isCatchingUp(epoch)) return;
    this.#state = 'live';
    this.#overlappingPasses = overlappingPasses;
    // The event has no id: the client keeps the id of the last run, which says what it was sent.
    this.#sink.send(hasAll ? positionEvent : gapEvent);
  }

  sendLive(events: readonly FedEvent[], id: string): void {
    if (this.#state !== 'live') return;
    const missed = this.#missed;
    const fresh = missed
      ? events.filter(({ version }) => !missed.has(version.run_id, hashOf(version)))
      : events;
    this.#send(
      fresh.map(({ event }) => event),
      id,
    );
  }

  /** A pass over the changes is complete. */
  passed(): void {
    if (this.#state === 'live' && --this.#overlappingPasses <= 0) this.#missed = undefined;
  }

  /** Sends a position when the last one is older than this. */
  sendPosition(id: () => string, afterMs: number): void {
    if (this.#state === 'live' && performance.now() - this.#sentAtMs > afterMs)
      this.#send([positionEvent], id());
  }

  end(): void {
    this.#state = 'gone';
    this.#sink.end();
  }

  fail(error: unknown): void {
    this.#state = 'gone';
    this.#sink.fail(error);
  }

  /** The client has left. */
  leave(): void {
    this.#state = 'gone';
  }

  /** The last event has the id, which is where the reader continues. */
  #send(events: readonly StreamEvent[], id: string): void {
    let isKeepingUp = true;
    for (const [at, event] of events.entries())
      isKeepingUp = this.#sink.send(at === events.length - 1 ? { ...event, id } : event);
    if (events.length === 0) return;
    this.#lastEventId = id;
    this.#sentAtMs = performance.now();
    if (!isKeepingUp) void this.#wait();
  }

  async #wait(): Promise<void> {
    if (this.#state === 'live') this.#missed = undefined;
    this.#state = 'backpressured';
    this.#epoch++;
    await this.#sink.drained();
    // The client may have left meanwhile.
    if (this.#state !== 'backpressured') return;
    this.#state = 'catching_up';
    this.#onDrained(this);
  }
}

const positionEvent: StreamEvent = { event: 'position', data: '{}' };
const gapEvent: StreamEvent = {
  event: 'gap',
  data: JSON.stringify({ message: 'You may have missed changes: read lists again.' }),
};

/** A position can be later than the last read when the clock of a new primary is behind. */
const isReplayable = (
  { readAt }: FeedPosition,
  { readAt: now, replayMs }: { readAt: string; replayMs: number },
): boolean => {
  const ageMs = timeMs(now) - timeMs(readAt);
  return ageMs <= replayMs && ageMs >= -changeOverlapMs;
};
