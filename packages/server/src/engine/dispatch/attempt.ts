// One attempt of a run, as the server process sees it: on which executor, and what stops it.
//
//   running ──stop(why)──▶ stopping ──done──▶ over
//                              │
//                              └── grace over ──▶ its executor is killed, and the dispatcher ends it
import type { ExecutorProcess } from './executor-process.ts';
import type { StopReason } from './protocol.ts';

/** A timer that is set for longer goes off at once. */
const timerMaxMs = 2 ** 31 - 1;

export interface AttemptLimits {
  /** How long an attempt may take. */
  timeoutMs: number;
  /** How long a graph may take to heed the signal. */
  graceMs: number;
}

export class Attempt {
  /** Of the run: the attempt is the run's lease. */
  readonly id: string;
  readonly lease_token: number;
  /** Attempts of the run that were lost before, as far as they are listed. */
  readonly losses: number;
  /** Monotonic milliseconds. */
  readonly startedMs = performance.now();
  readonly #executor: ExecutorProcess;
  readonly #graceMs: number;
  #timeout: NodeJS.Timeout | undefined;
  #isOver = false;
  /** The executor sends events, as far as it has been told. */
  #isListening: boolean;
  /** Its events are in its log, and are not sent. */
  isLogOnly = false;
  #grace: NodeJS.Timeout | undefined;
  /** Why it is to stop; undefined while it is not. */
  stopped: StopReason | undefined;
  /** It did not heed the signal, and its executor was killed for it. */
  isKilled = false;

  constructor(
    order: { run_id: string; lease_token: number; streamed: boolean },
    executor: ExecutorProcess,
    limits: AttemptLimits,
    losses = 0,
  ) {
    this.id = order.run_id;
    this.lease_token = order.lease_token;
    this.losses = losses;
    this.#executor = executor;
    this.#isListening = order.streamed;
    this.#graceMs = limits.graceMs;
    // Its time begins when its executor has: one that has just replaced another takes a moment.
    const begin = (): void => {
      if (this.#isOver) return;
      this.#timeout = setTimeout(() => this.stop('timeout'), Math.min(limits.timeoutMs, timerMaxMs));
      this.#timeout.unref();
    };
    executor.ready.then(begin, () => undefined); // an executor that never begins is lost, and the attempt with it
  }

  /** Tells the graph to stop, once. */
  stop(why: StopReason): void {
    if (this.stopped) return;
    this.stopped = why;
    this.#executor.cancel({ run_id: this.id, lease_token: this.lease_token }, why);
    this.#grace = setTimeout(() => this.kill(), this.#graceMs);
    this.#grace.unref();
  }

  /** Ends the executor, which runs as others too: they are none the worse for it. */
  kill(): void {
    this.isKilled = true;
    this.#executor.kill();
  }

  /** Someone reads the events from now on; in the log, if `logged`. */
  listen(logged: boolean): void {
    this.#isListening = true;
    this.#executor.listen({ run_id: this.id, lease_token: this.lease_token }, logged);
  }

  /** Nobody here reads the events any more. */
  unlisten(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#executor.unlisten({ run_id: this.id, lease_token: this.lease_token });
  }

  /** Readers have taken these bytes of events, or are not waited for. */
  acknowledge(bytes: number): void {
    if (!this.#isOver) this.#executor.acknowledge({ run_id: this.id, lease_token: this.lease_token }, bytes);
  }

  /** The attempt is over. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
  }
}
