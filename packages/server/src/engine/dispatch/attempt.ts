// One attempt of a run, in the server process: its executor, its time limit, and how it is stopped.
//
//   running ──stop(why) or aborted()──▶ stopping ──the graph has ended──▶ storing its outcome ──done──▶ over
//                                            │
//                                            └── grace period over ──▶ its executor is killed, and the dispatcher ends the run
//
// The outcome of an attempt may be decided before its graph has ended in the executor: the lease was lost. The grace period then continues.
import type { ExecutorProcess } from './executor-process.ts';
import type { RunError, StopReason, RunCommand, RunStatus } from './protocol.ts';

/** A timer with a longer delay would fire at once. */
const timerMaxMs = 2 ** 31 - 1;

export interface AttemptLimits {
  /** How long an attempt may take. */
  timeoutMs: number;
  /** How long a graph may take to stop after the abort signal. */
  graceMs: number;
}

export class Attempt {
  /** The id of the run: an attempt is held as the lease of its run. */
  readonly id: string;
  readonly lease_token: number;
  /** Monotonic milliseconds. */
  readonly startedMs = performance.now();
  /** A stateless run: its row is deleted when it ends, or with its log if it has one. */
  readonly temporary: boolean;
  readonly #executor: ExecutorProcess;
  readonly #graceMs: number;
  #timeout: NodeJS.Timeout | undefined;
  /** The outcome is decided, so the attempt has neither a time limit nor readers. */
  #isDecided = false;
  /** True while the executor sends events. */
  #isListening: boolean;
  /** The events are stored in the run log only, and are not sent. */
  isLogOnly = false;
  #grace: NodeJS.Timeout | undefined;
  /** Why the attempt was stopped; undefined if it was not. */
  stopped: StopReason | undefined;
  /** Set when the executor has aborted the graph: the error that the run ends with if the graph does not stop; null when another attempt follows. */
  #failure: RunError | null | undefined;
  /** The executor was killed because of this attempt, which ends the run. */
  isKilled = false;
  /** Called once, when the outcome is decided. */
  onEnd: ((outcome: AttemptOutcome) => void) | undefined;

  constructor(
    command: { run_id: string; lease_token: number; streamed: boolean; temporary: boolean },
    executor: ExecutorProcess,
    limits: AttemptLimits,
  ) {
    this.id = command.run_id;
    this.lease_token = command.lease_token;
    this.temporary = command.temporary;
    this.#executor = executor;
    this.#isListening = command.streamed;
    this.#graceMs = limits.graceMs;
    // The time limit counts from when the executor is ready: a new executor takes some time to start.
    const begin = (): void => {
      if (this.#isDecided) return;
      this.#timeout = setTimeout(() => this.stop('timeout'), Math.min(limits.timeoutMs, timerMaxMs));
      this.#timeout.unref();
    };
    executor.ready.then(begin, () => undefined); // the attempt is lost with its executor
  }

  /** Sends the abort signal to the graph, once. */
  stop(why: StopReason): void {
    if (this.stopped) return;
    this.stopped = why;
    this.#executor.cancel({ run_id: this.id, lease_token: this.lease_token }, why);
    this.#beginGrace();
  }

  /** Ends the attempt before the next superstep of the graph, if another attempt can continue the run. May be repeated. */
  drain(): void {
    if (!this.stopped) this.#executor.drain({ run_id: this.id, lease_token: this.lease_token });
  }

  /** Inputs wait that were sent into the run. */
  takeInputs(): void {
    if (!this.stopped) this.#executor.takeInputs({ run_id: this.id, lease_token: this.lease_token });
  }

  /** The executor has aborted the graph, because something could not be stored. */
  aborted(error: RunError | null): void {
    if (this.stopped) return;
    this.#failure = error;
    this.#beginGrace();
  }

  /** A grace period that has begun is not extended. */
  #beginGrace(): void {
    if (this.#grace) return;
    const seconds = this.#graceMs / 1_000;
    const reason = `run ${this.id} did not stop within ${seconds} s after the abort signal`;
    this.#grace = setTimeout(() => {
      const isLost = this.#failure === null && !this.stopped;
      if (isLost) this.#executor.kill(reason);
      else this.kill(reason);
    }, this.#graceMs);
    this.#grace.unref();
  }

  /** Kills the executor. Its other runs are given back and not charged. */
  kill(reason: string): void {
    this.isKilled = true;
    this.#executor.kill(reason);
  }

  /** The graph has stopped. The executor stores the outcome, which may take as long as an outage of the database. */
  graphEnded(): void {
    clearTimeout(this.#grace);
  }

  /** The events have a reader from now on. `logged`: the reader is on another node and reads the log. */
  listen(logged: boolean): void {
    this.#isListening = true;
    this.#executor.listen({ run_id: this.id, lease_token: this.lease_token }, logged);
  }

  /** The events have no reader on this node any more. */
  unlisten(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    this.#executor.unlisten({ run_id: this.id, lease_token: this.lease_token });
  }

  /**
   * The executor sends more events when the readers have consumed these bytes. `consumed`: resolves when they have, or when the wait for
   * the slowest reader is over; undefined when no reader waits.
   */
  async acknowledge(bytes: number, consumed: Promise<void> | undefined): Promise<void> {
    if (consumed !== undefined) await consumed;
    if (!this.#isDecided)
      this.#executor.acknowledge({ run_id: this.id, lease_token: this.lease_token }, bytes);
  }

  /** How the run ends when the executor was killed because of this attempt. */
  get killedOutcome(): { status: 'timeout' | 'interrupted' | 'error'; error: RunError | null } {
    if (this.stopped === 'timeout') {
      const message = 'The run exceeded its time limit and did not stop after the abort signal';
      return { status: 'timeout', error: { error: 'RunTimeout', message } };
    }
    if (this.stopped || !this.#failure) return { status: 'interrupted', error: null };
    return { status: 'error', error: this.#failure };
  }

  /** Reports the outcome. A graph that still executes after the abort signal is killed after the grace period all the same. */
  decide(outcome: AttemptOutcome): void {
    this.#isDecided = true;
    clearTimeout(this.#timeout);
    this.onEnd?.(outcome);
    this.onEnd = undefined;
  }

  /** The attempt is over in its executor, or the executor has ended. */
  [Symbol.dispose](): void {
    this.#isDecided = true;
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
  }
}

// What the dispatcher reports about attempts, for spans.
export interface StartedAttempt {
  readonly command: Pick<
    RunCommand,
    'run_id' | 'thread_id' | 'assistant_id' | 'graph_id' | 'attempt' | 'temporary'
  >;
  /** Monotonic milliseconds, from before the claim. */
  readonly sinceMs: number;
  /** How long the run was pending; undefined when that is not known. */
  readonly waitedMs: number | undefined;
}

/** `lost`: another attempt may follow, and the run may be charged. `released`: given back without a charge. */
export type AttemptOutcome = RunStatus | 'lost' | 'released';

/** Called when an attempt starts. The result is called once, when it has ended. Neither may throw. */
export type ObserveAttempt = (started: StartedAttempt) => (outcome: AttemptOutcome) => void;
