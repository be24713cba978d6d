// What happens in a run, told to everyone on this node who listens. Ids count from 0 in each run, over all of its
// attempts; every reader sees every event after the place where it came in, in order, and then the end.

export interface RunEvent {
  id: number;
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

/** Who gets the events. Must not throw. */
export interface RunEventListener {
  event(event: RunEvent): void;
  /** Resolves when the reader has taken what it got; undefined when it has. Must not reject. */
  taken?(): Promise<void> | undefined;
  end(): void;
}

/** How long the events of a run wait for a reader that takes nothing. */
const takeMs = 5_000;
/** Characters of events that wait for a reader; with more it has missed some. */
const waitingMax = 4 * 1024 * 1024;

/** A place in a run's stream. What comes before a reader is attached waits here. */
export class RunSubscription {
  #waiting: RunEvent[] = [];
  #waitingSize = 0;
  #hasMissed = false;
  #isEnded: boolean;
  #reader: RunEventListener | undefined;
  /** Waiting for it timed out: it is not waited for again until it has taken something. */
  #isStalled = false;
  readonly #leave: (subscription: RunSubscription) => void;

  constructor(isEnded: boolean, leave: (subscription: RunSubscription) => void) {
    this.#isEnded = isEnded;
    this.#leave = leave;
  }

  push(event: RunEvent): void {
    if (this.#reader) return this.#reader.event(event);
    this.#waitingSize += event.data.length;
    if (this.#waitingSize <= waitingMax) this.#waiting.push(event);
    else {
      this.#hasMissed = true;
      this.#waiting = [];
    }
  }

  end(): void {
    this.#isEnded = true;
    this.#reader?.end();
  }

  /** False when events were dropped because nobody took them: they have to be read elsewhere, and this called again. */
  attach(reader: RunEventListener): boolean {
    if (this.#hasMissed) {
      this.#hasMissed = false;
      this.#waitingSize = 0;
      return false;
    }
    this.#reader = reader;
    for (const event of this.#waiting) reader.event(event);
    this.#waiting = [];
    if (this.#isEnded) reader.end();
    return true;
  }

  /** Resolves when the reader has taken what it got, or with `late`; undefined when it is not waited for. */
  untilTaken(late: Promise<void>): Promise<void> | undefined {
    const taken = this.#isStalled ? undefined : this.#reader?.taken?.();
    if (!taken) return undefined;
    let isTaken = false;
    const inTime = taken.then(() => {
      isTaken = true;
      this.#isStalled = false;
    });
    return Promise.race([inTime, late.then(() => void (this.#isStalled ||= !isTaken))]);
  }

  /** The reader has gone. */
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
  /** Events come from the run's log, since it executes elsewhere. */
  isFollowed = false;
  /** Someone waits for the final values. */
  awaited = false;
  /** Someone reads the events. */
  streamed = false;

  constructor(run_id: string, onIdle: () => void) {
    this.run_id = run_id;
    this.#onIdle = onIdle;
    this.outcome = new Promise((resolve) => (this.#settle = resolve));
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** True while somebody waits for the outcome. */
  get hasWaiters(): boolean {
    return this.#waiters > 0;
  }

  /** Events with ids from `first_id` on. Those that were told before are left out. */
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

  /** Events from now on. */
  subscribe(): RunSubscription {
    const subscription = new RunSubscription(this.isEnded, (gone) => {
      if (this.#readers.delete(gone)) this.#checkIdle();
    });
    if (!this.isEnded) this.#readers.add(subscription);
    return subscription;
  }

  /** Resolves when every reader has taken what it got, or has had `takeMs`; undefined when none is waited for. */
  untilTaken(): Promise<void> | undefined {
    let timeOver!: () => void;
    const late = new Promise<void>((resolve) => (timeOver = resolve));
    const waits = [...this.#readers].flatMap((reader) => reader.untilTaken(late) ?? []);
    if (waits.length === 0) return undefined;
    const timer = setTimeout(timeOver, takeMs);
    return Promise.all(waits).then(() => clearTimeout(timer));
  }

  /** Keeps the stream here until the function that this returns is called, whether anyone reads or not. */
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
