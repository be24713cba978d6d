// Requests to an executor that wait for an answer, each with a time limit.
import { Problem, type ProblemCode } from '@svc/contract/problem';
import type { AnsweredProblem } from './protocol.ts';

/** Milliseconds in which an executor must answer. */
export interface CallLimits {
  introspect: number;
  update: number;
  storeIndex: number;
  /** The import of one thread. */
  import: number;
}

export const defaultCallLimits: CallLimits = {
  introspect: 30_000,
  update: 60_000,
  // Longer than the limit of a request for the index, after which the executor still holds the value.
  storeIndex: 120_000,
  import: 600_000,
};

export interface LateCall {
  /** Monotonic time at which it was sent. */
  sentMs: number;
  limitMs: number;
  /** The process does nothing else, and is killed in any case. */
  isExclusive: boolean;
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

export class ExecutorCalls {
  readonly #waiting = new Map<number, Waiting>();
  /** Called when a call was not answered in time. Returns whether the executor is killed, which rejects all calls. */
  readonly #onLate: (call: LateCall) => boolean;
  #last = 0;

  constructor(onLate: (call: LateCall) => boolean) {
    this.#onLate = onLate;
  }

  /** Calls that wait for their answers. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Sends a call with its number, and waits for the answer. Rejects with `unavailable` after the time limit, if there is one. */
  start(limitMs: number | undefined, send: (call: number) => void, isExclusive = false): Promise<unknown> {
    const call = ++this.#last;
    const sentMs = performance.now();
    return new Promise((resolve, reject) => {
      const onLate = (ms: number): void => {
        if (this.#onLate({ sentMs, limitMs: ms, isExclusive })) return;
        this.#take(call)?.reject(
          new Problem('unavailable', `The executor did not answer within ${ms / 1_000} s. Try again shortly`),
        );
      };
      const timer = limitMs === undefined ? undefined : setTimeout(() => onLate(limitMs), limitMs).unref();
      this.#waiting.set(call, { resolve, reject, timer });
      send(call);
    });
  }

  /** Ignores answers that come too late. */
  answer(call: number, value: unknown, problem: AnsweredProblem | undefined): void {
    const waiting = this.#take(call);
    if (!problem) return waiting?.resolve(value);
    const { code, message, faults } = problem;
    waiting?.reject(new Problem(code as ProblemCode, message, faults && { faults }));
  }

  /** The executor has ended. */
  rejectAll(error: Problem): void {
    for (const call of this.#waiting.keys()) this.#take(call)?.reject(error);
  }

  #take(call: number): Waiting | undefined {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}
