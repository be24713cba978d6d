// Attempts whose lease another worker has taken, or whose run has ended or was deleted, while their graphs stop.
//
// The row of a stateless run without a log is deleted when the run ends. When the executor's report of the end is late, a renewal finds neither the row nor
// the reason. Such a run ends here as its executor reports; other runs continue to be read from their logs.
import type { RunEventStream } from '../streams/run-event-stream.ts';
import type { Attempt } from './attempt.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import { type AttemptRef, endsAttempt } from './executor-process.ts';
import type { AttemptMessage } from './protocol.ts';

type Events = Extract<AttemptMessage, { kind: 'events' }>;

interface Stopping {
  attempt: Attempt;
  /** Events that are sent if the run has ended here. */
  held: Events[];
}

type Options = Pick<DispatcherOptions, 'streams' | 'tail'>;

const keyOf = ({ run_id, lease_token }: AttemptRef): string => `${run_id} ${lease_token}`;

export class StoppingAttempts implements Disposable {
  readonly #options: Options;
  readonly #attempts = new Map<string, Stopping>();

  constructor(options: Options) {
    this.#options = options;
  }

  stop(attempt: Attempt): void {
    attempt.stop('lost');
    this.#attempts.set(keyOf({ run_id: attempt.id, lease_token: attempt.lease_token }), {
      attempt,
      held: [],
    });
    if (!attempt.temporary) this.#follow(attempt.id);
  }

  /** Messages of other attempts are ignored. */
  receive(message: AttemptMessage): void {
    const stopping = this.#attempts.get(keyOf(message));
    if (stopping === undefined) return;
    // Not acknowledged, so an executor sends a limited number of bytes.
    if (message.kind === 'events') return void stopping.held.push(message);
    if (!endsAttempt(message)) return;
    this.#remove(message);
    const stream = this.#unfollowed(message.run_id);
    if (stream === undefined) return;
    if (message.kind === 'done') this.#end(stream, stopping.held, message);
    else this.#options.tail.follow(stream);
  }

  /** The executor of these attempts has ended. */
  executorLost(running: readonly AttemptRef[]): void {
    for (const ref of running) if (this.#remove(ref)) this.#follow(ref.run_id);
  }

  [Symbol.dispose](): void {
    for (const { attempt } of this.#attempts.values()) attempt[Symbol.dispose]();
    this.#attempts.clear();
  }

  /** An executor reports the end of a run only when it is stored, under the lease. */
  #end(
    stream: RunEventStream,
    held: Events[],
    { status, values, error }: Extract<AttemptMessage, { kind: 'done' }>,
  ): void {
    for (const { first_id, events } of held) stream.push(first_id, events);
    this.#options.streams.end(stream.run_id, { status, error, ...(values === undefined ? {} : { values }) });
  }

  #remove(ref: AttemptRef): boolean {
    this.#attempts.get(keyOf(ref))?.attempt[Symbol.dispose]();
    return this.#attempts.delete(keyOf(ref));
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
