// Distributes the events of a run to its readers on this node. Ids count from 0 in each run, over all of its attempts. A
// reader gets all events after the start of its subscription, in order, and then the end.

export interface RunEvent {
  id: number;
  event: string;
  /** JSON text. */
  data: string;
}

export interface RunOutcome {
  status: 'success' | 'error' | 'interrupted' | 'timeout';
  /** The final values as wire JSON, null when there are none; absent when the run was not awaited when it started. */
  values?: string | null;
  error: { error: string; message: string } | null;
}

/** Receives the events of a subscription. Must not throw. */
export interface RunEventListener {
  event(event: RunEvent): void;
  /** Resolves when the reader has consumed its events; undefined when it has. Must not reject. */
  consumed?(): Promise<void> | undefined;
  end(): void;
}

/** How long the events of a run wait for a reader that consumes nothing. */
const consumeMs = 5_000;
/** Characters of events that wait for a reader; above this they are dropped. */
const waitingMax = 4 * 1024 * 1024;

/** Ids of events that were dropped: from `from` on, without `until`. */
export interface MissedEvents {
  from: number;
  until: number;
}

/** The subscription of one reader. Events that arrive before the reader is attached wait here. */
export class RunSubscription {
  #waiting: RunEvent[] = [];
  #waitingSize = 0;
  #missed: MissedEvents | undefined;
  #isEnded: boolean;
  #reader: RunEventListener | undefined;
  /** A wait for the reader timed out: there is no further wait until it has consumed its events. */
  #isStalled = false;
  readonly #leave: (subscription: RunSubscription) => void;

  constructor(isEnded: boolean, leave: (subscription: RunSubscription) => void) {
    this.#isEnded = isEnded;
    this.#leave = leave;
  }

  push(event: RunEvent): void {
    if (this.#reader) return this.#reader.event(event);
    this.#waitingSize += event.data.length;
    if (this.#waitingSize <= waitingMax) {
      this.#waiting.push(event);
      return;
    }
    const from = this.#missed?.from ?? this.#waiting[0]?.id ?? event.id;
    this.#missed = { from, until: event.id + 1 };
    this.#waiting = [];
  }

  end(): void {
    this.#isEnded = true;
    this.#reader?.end();
  }

  /** Returns the events that were dropped while they waited, if any: the caller reads them from the log, and calls attach() again. */
  attach(reader: RunEventListener): MissedEvents | undefined {
    if (this.#missed) {
      const missed = this.#missed;
      this.#missed = undefined;
      this.#waitingSize = 0;
      return missed;
    }
    this.#reader = reader;
    for (const event of this.#waiting) reader.event(event);
    this.#waiting = [];
    if (this.#isEnded) reader.end();
    return undefined;
  }

  /** Resolves when the reader has consumed its events, or with `late`; undefined when there is nothing to wait for. */
  untilConsumed(late: Promise<void>): Promise<void> | undefined {
    const consumed = this.#isStalled ? undefined : this.#reader?.consumed?.();
    if (!consumed) return undefined;
    let isConsumed = false;
    const inTime = consumed.then(() => {
      isConsumed = true;
      this.#isStalled = false;
    });
    return Promise.race([inTime, late.then(() => void (this.#isStalled ||= !isConsumed))]);
  }

  /** Ends the subscription: the reader has left. */
  close(): void {
    this.#leave(this);
  }
}

export class RunEventStream {
  readonly run_id: string;
  readonly outcome: Promise<RunOutcome>;
  readonly #onIdle: () => void;
  readonly #readers = new Set<RunSubscription>();
  #waiters = 0;
  #settle!: (outcome: RunOutcome) => void;
  nextId = 0;
  isEnded = false;
  /**
   * The events come from the run's log, because the run executes elsewhere. For all three flags see RunDelivery in
   * dispatch/protocol.ts.
   */
  isFollowed = false;
  /** A caller waits for the final values. */
  awaited = false;
  /** The events have a reader. */
  streamed = false;

  constructor(run_id: string, onIdle: () => void) {
    this.run_id = run_id;
    this.#onIdle = onIdle;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** True while a caller waits for the outcome. */
  get hasWaiters(): boolean {
    return this.#waiters > 0;
  }

  /** Sends events with ids from `first_id` on. Events that were sent before are skipped. */
  push(first_id: number, events: readonly [event: string, data: string][]): void {
    if (this.isEnded) return;
    for (const [position, [event, data]] of events.entries()) {
      const id = first_id + position;
      if (id < this.nextId) continue;
      this.nextId = id + 1;
      for (const reader of this.#readers) reader.push({ id, event, data });
    }
  }

  end(outcome: RunOutcome): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#settle(outcome);
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /** Subscribes to the events from now on. */
  subscribe(): RunSubscription {
    const subscription = new RunSubscription(this.isEnded, (closed) => {
      if (this.#readers.delete(closed)) this.#checkIdle();
    });
    if (!this.isEnded) this.#readers.add(subscription);
    return subscription;
  }

  /**
   * Resolves when every reader has consumed its events, or after `consumeMs`; undefined when there is nothing to wait for.
   */
  untilConsumed(): Promise<void> | undefined {
    let timeOver!: () => void;
    const late = new Promise<void>((resolve) => (timeOver = resolve));
    const waits = [...this.#readers].flatMap((reader) => reader.untilConsumed(late) ?? []);
    if (waits.length === 0) return undefined;
    const timer = setTimeout(timeOver, consumeMs);
    return Promise.all(waits).then(() => clearTimeout(timer));
  }

  /** Keeps the stream, with or without readers, until the returned function is called. */
  retain(): () => void {
    this.#waiters += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#waiters -= 1;
      this.#checkIdle();
    };
  }

  #checkIdle(): void {
    if (!this.isEnded && this.#readers.size === 0 && this.#waiters === 0) this.#onIdle();
  }
}
