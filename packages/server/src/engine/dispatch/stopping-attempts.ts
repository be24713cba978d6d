// Attempts that have lost their lease, until their graphs have stopped: another worker has taken the lease, or the run has ended or was
// deleted.
//
// The row of a stateless run without a log is deleted when the run ends. If the executor reports the end late, a renewal of the lease finds
// no row, and not why. Such a run ends here as its executor reports. The streams of other runs are fed by their logs.
import type { RunEventStream } from '../streams/run-event-hub.ts';
import type { Attempt } from './attempt.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import { attemptKey, type AttemptRef, endsAttempt } from './executor-process.ts';
import type { AttemptMessage } from './protocol.ts';
import type { RunEndings } from './run-endings.ts';

type Events = Extract<AttemptMessage, { kind: 'events' }>;

interface Stopping {
  attempt: Attempt;
  /** Events that are sent if the run has ended here. */
  held: Events[];
}

type Options = Pick<DispatcherOptions, 'streams' | 'tail'>;

export class StoppingAttempts implements Disposable {
  readonly #options: Options;
  readonly #endings: RunEndings;
  readonly #attempts = new Map<string, Stopping>();

  constructor(options: Options, endings: RunEndings) {
    this.#options = options;
    this.#endings = endings;
  }

  stop(attempt: Attempt): void {
    attempt.stop('lost');
    this.#attempts.set(attemptKey({ run_id: attempt.id, lease_token: attempt.lease_token }), {
      attempt,
      held: [],
    });
    if (!attempt.temporary) this.#follow(attempt.id);
  }

  /** Messages of other attempts are ignored. */
  receive(message: AttemptMessage): void {
    const stopping = this.#attempts.get(attemptKey(message));
    if (stopping === undefined) return;
    // Not acknowledged, so an executor sends a limited number of bytes.
    if (message.kind === 'events') return void stopping.held.push(message);
    if (message.kind === 'graph_ended') return stopping.attempt.graphEnded();
    if (!endsAttempt(message)) return;
    this.#remove(message);
    const stream = this.#unfollowed(message.run_id);
    if (stream === undefined) return;
    if (message.kind === 'done') {
      for (const { first_id, events } of stopping.held) stream.push(first_id, events);
      this.#endings.endReported(message);
    } else this.#options.tail.follow(stream);
  }

  /** The executor of these attempts has ended. */
  executorLost(running: readonly AttemptRef[]): void {
    for (const ref of running) if (this.#remove(ref)) this.#follow(ref.run_id);
  }

  [Symbol.dispose](): void {
    for (const { attempt } of this.#attempts.values()) attempt[Symbol.dispose]();
    this.#attempts.clear();
  }

  #remove(ref: AttemptRef): boolean {
    this.#attempts.get(attemptKey(ref))?.attempt[Symbol.dispose]();
    return this.#attempts.delete(attemptKey(ref));
  }

  #unfollowed(run_id: string): RunEventStream | undefined {
    const stream = this.#options.streams.find(run_id);
    return stream?.isFollowed === true ? undefined : stream;
  }

  #follow(run_id: string): void {
    const stream = this.#unfollowed(run_id);
    if (stream) this.#options.tail.follow(stream);
  }
}
