// What happens in a run, told to everyone who listens. Ids count from 0 in each run; every reader sees
// every event after the one it names, in order, and then the end.

export interface RunEvent {
  id: string;
  event: string;
  /** JSON text. */
  data: string;
}

export interface RunOutcome {
  status: 'success' | 'error' | 'interrupted' | 'timeout';
  /** The final values as wire JSON, null when there are none; absent when nobody waited for them from the start. */
  values?: string | null;
  error: { error: string; message: string } | null;
}

export interface StreamLimits {
  /** How long the events of a resumable run stay readable after its end. */
  retentionMs: number;
  /** Bytes of events kept per resumable run; older ones go first. */
  keptBytesMax: number;
}

/** Who gets the events. */
export interface RunReader {
  event(event: RunEvent): void;
  end(): void;
}

/** A place in a run's stream. What comes before a reader is attached waits here. */
export class Subscription {
  #waiting: RunEvent[];
  #ended: boolean;
  #reader: RunReader | undefined;
  readonly #leave: (subscription: Subscription) => void;

  constructor(waiting: RunEvent[], ended: boolean, leave: (subscription: Subscription) => void) {
    this.#waiting = waiting;
    this.#ended = ended;
    this.#leave = leave;
  }

  push(event: RunEvent): void {
    if (this.#reader) this.#reader.event(event);
    else this.#waiting.push(event);
  }

  end(): void {
    this.#ended = true;
    this.#reader?.end();
  }

  attach(reader: RunReader): void {
    this.#reader = reader;
    for (const event of this.#waiting) reader.event(event);
    this.#waiting = [];
    if (this.#ended) reader.end();
  }

  /** The reader has gone. */
  close(): void {
    this.#leave(this);
  }
}

class RunStream {
  readonly outcome: Promise<RunOutcome>;
  readonly #keptBytesMax: number;
  readonly #readers = new Set<Subscription>();
  #kept: RunEvent[] = [];
  #keptBytes = 0;
  #nextId = 0;
  #settle!: (outcome: RunOutcome) => void;
  isEnded = false;
  isResumable = false;
  /** Someone waits for the final values. */
  awaited = false;
  /** Someone reads the events. */
  streamed = false;

  constructor(keptBytesMax: number) {
    this.#keptBytesMax = keptBytesMax;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
  }

  /** Nothing was written, and nobody reads. */
  get isIdle(): boolean {
    return this.#nextId === 0 && this.#readers.size === 0 && !this.isEnded;
  }

  push(event: string, data: string): void {
    const told = { id: String(this.#nextId++), event, data };
    if (this.isResumable) this.#keep(told);
    for (const reader of this.#readers) reader.push(told);
  }

  end(outcome: RunOutcome): void {
    this.isEnded = true;
    this.#settle(outcome);
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /** Events after id `after` that are still kept, then live ones; only live ones when it is undefined. */
  subscribe(after?: number): Subscription {
    const waiting = after === undefined ? [] : this.#kept.filter((event) => Number(event.id) > after);
    const subscription = new Subscription(waiting, this.isEnded, (gone) => this.#readers.delete(gone));
    if (!this.isEnded) this.#readers.add(subscription);
    return subscription;
  }

  #keep(event: RunEvent): void {
    this.#kept.push(event);
    this.#keptBytes += event.data.length;
    while (this.#keptBytes > this.#keptBytesMax) this.#keptBytes -= this.#kept.shift()?.data.length ?? 0;
  }
}

export class RunStreams {
  readonly #limits: StreamLimits;
  readonly #streams = new Map<string, RunStream>();
  readonly #expiries = new Set<NodeJS.Timeout>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** The stream of a run that has not ended, made on first use. */
  open(
    run_id: string,
    options: { resumable?: boolean; awaited?: boolean; streamed?: boolean } = {},
  ): RunStream {
    let stream = this.#streams.get(run_id);
    if (!stream) {
      stream = new RunStream(this.#limits.keptBytesMax);
      this.#streams.set(run_id, stream);
    }
    if (options.resumable) stream.isResumable = true;
    if (options.awaited) stream.awaited = true;
    if (options.streamed) stream.streamed = true;
    return stream;
  }

  find(run_id: string): RunStream | undefined {
    return this.#streams.get(run_id);
  }

  end(run_id: string, outcome: RunOutcome): void {
    const stream = this.#streams.get(run_id);
    if (!stream) return;
    stream.end(outcome);
    if (!stream.isResumable) return this.#forget(run_id);
    const expiry = setTimeout(() => {
      this.#expiries.delete(expiry);
      this.#forget(run_id);
    }, this.#limits.retentionMs);
    expiry.unref();
    this.#expiries.add(expiry);
  }

  /** Drops a stream that nothing was or will be written to, if nobody else listens. */
  discard(run_id: string): void {
    if (this.#streams.get(run_id)?.isIdle) this.#forget(run_id);
  }

  [Symbol.dispose](): void {
    for (const expiry of this.#expiries) clearTimeout(expiry);
    this.#streams.clear();
  }

  #forget(run_id: string): void {
    this.#streams.delete(run_id);
  }
}

export type { RunStream };
