// The events of runs that have readers on this node. A run that executes on this node gets its events from its
// executor, any other run from its log (run-log-tail.ts). A stream is deleted when it has no reader, or when the run has
// ended: resumable events are in the log. Ids count from 0 in each run, over all of its attempts.
import type { RunLogStorage } from '../../storage/deployment/runs/run-log.ts';
import { RunSubscription } from './run-subscription.ts';

export interface RunOutcome {
  status: 'success' | 'error' | 'interrupted' | 'timeout';
  /** The final values as wire JSON, null when there are none; absent when the run was not awaited when it started. */
  values?: string | null;
  error: { error: string; message: string } | null;
}

/** How long the events of a run wait for a reader that consumes nothing. */
const consumeMs = 5_000;

export class RunEventStream {
  readonly run_id: string;
  readonly outcome: Promise<RunOutcome>;
  readonly #log: RunLogStorage;
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

  constructor(run_id: string, log: RunLogStorage, onIdle: () => void) {
    this.run_id = run_id;
    this.#log = log;
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

  /** Subscribes to the events from now on; with `after`, to all events after that id. -1 is before the first one. */
  subscribe(after?: number): RunSubscription {
    const { run_id, isEnded } = this;
    const subscription = new RunSubscription({ run_id, log: this.#log, after, isEnded }, (left) => {
      if (this.#readers.delete(left)) this.#checkIdle();
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

export class RunEventHub {
  readonly #log: RunLogStorage;
  readonly #streams = new Map<string, RunEventStream>();

  constructor(log: RunLogStorage) {
    this.#log = log;
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Returns the stream of a run that has not ended, and creates it on first use. It is deleted when its last reader and
   * waiter have left.
   */
  open(run_id: string, options: { awaited?: boolean; streamed?: boolean } = {}): RunEventStream {
    let stream = this.#streams.get(run_id);
    if (!stream) {
      stream = new RunEventStream(run_id, this.#log, () => this.#streams.delete(run_id));
      this.#streams.set(run_id, stream);
    }
    if (options.awaited) stream.awaited = true;
    if (options.streamed) stream.streamed = true;
    return stream;
  }

  find(run_id: string): RunEventStream | undefined {
    return this.#streams.get(run_id);
  }

  /** Streams that are fed by logs. */
  *followed(): Iterable<RunEventStream> {
    for (const stream of this.#streams.values()) if (stream.isFollowed) yield stream;
  }

  end(run_id: string, outcome: RunOutcome): void {
    const stream = this.#streams.get(run_id);
    this.#streams.delete(run_id);
    stream?.end(outcome);
  }

  [Symbol.dispose](): void {
    this.#streams.clear();
  }
}
