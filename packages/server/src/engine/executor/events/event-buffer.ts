// A queue of events, in the order of their ids.

export type NamedEvent = [event: string, data: string];

export interface EventBatch {
  first_id: number;
  events: NamedEvent[];
  bytes: number;
}

/** Bytes of an event in addition to its text, in memory and in the frame that a client gets. */
const overheadBytes = 32;

const bytesOf = ([event, data]: NamedEvent): number =>
  Buffer.byteLength(event) + Buffer.byteLength(data) + overheadBytes;

export class EventBuffer {
  /** Entries before `#start` are removed. */
  #events: (NamedEvent | undefined)[] = [];
  #start = 0;
  #nextId: number;
  bytes = 0;

  constructor(firstId: number) {
    this.#nextId = firstId;
  }

  /** The id of the oldest event; of the next one while there is none. */
  get firstId(): number {
    return this.#nextId - this.length;
  }

  /** The next event gets this id. The buffer must be empty. */
  continueAt(id: number): void {
    this.#nextId = id;
  }

  get length(): number {
    return this.#events.length - this.#start;
  }

  get oldest(): NamedEvent | undefined {
    return this.#events[this.#start];
  }

  /** Bytes of all events but the newest. */
  get olderBytes(): number {
    const newest = this.#events.at(-1);
    return newest && this.length > 0 ? this.bytes - bytesOf(newest) : 0;
  }

  /** Returns the bytes of the event. */
  push(event: NamedEvent): number {
    const bytes = bytesOf(event);
    this.#events.push(event);
    this.#nextId += 1;
    this.bytes += bytes;
    return bytes;
  }

  /** Takes all events. */
  takeAll(): EventBatch | undefined {
    if (this.length === 0) return undefined;
    const first_id = this.firstId;
    const events = this.#events.slice(this.#start) as NamedEvent[];
    const { bytes } = this;
    this.#events = [];
    this.#start = 0;
    this.bytes = 0;
    return { first_id, events, bytes };
  }

  /** Takes the oldest event, and those after it that fit, up to the first for which `mayTake` is false. */
  take(bytesMax: number, mayTake?: (event: NamedEvent) => boolean): EventBatch | undefined {
    if ((this.bytes <= bytesMax && !mayTake) || this.length <= 1) return this.takeAll();
    const first_id = this.firstId;
    const events: NamedEvent[] = [];
    let bytes = 0;
    for (;;) {
      const event = this.#events[this.#start];
      if (!event) break;
      const more = bytesOf(event);
      if (events.length > 0 && (bytes + more > bytesMax || mayTake?.(event) === false)) break;
      events.push(event);
      bytes += more;
      this.#removeOldest(more);
    }
    this.#compact();
    return { first_id, events, bytes };
  }

  /**
   * Drops the oldest events until at least `bytesMin` bytes are dropped, but never the newest event. Returns the number
   * of dropped bytes.
   */
  drop(bytesMin: number): number {
    let bytes = 0;
    while (bytes < bytesMin && this.length > 1) {
      const more = bytesOf(this.#events[this.#start] as NamedEvent);
      bytes += more;
      this.#removeOldest(more);
    }
    this.#compact();
    return bytes;
  }

  /** Removes the oldest event, which has that many bytes. */
  #removeOldest(bytes: number): void {
    this.#events[this.#start] = undefined;
    this.#start += 1;
    this.bytes -= bytes;
  }

  #compact(): void {
    if (this.#start < 1_000 || this.#start < this.#events.length / 2) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }
}
