// The runs that somebody on this node listens to. Where the run executes here, its executor feeds the stream; else
// its log does (run-log-tail.ts). Nothing is kept of a run that nobody listens to, or that has ended: what can be read
// again is in the log.
import { RunEventStream, type RunOutcome } from './run-event-stream.ts';

export class RunEventHub {
  readonly #streams = new Map<string, RunEventStream>();

  get size(): number {
    return this.#streams.size;
  }

  /** The stream of a run that has not ended, made on first use. It goes when its last reader and waiter have gone. */
  open(run_id: string, options: { awaited?: boolean; streamed?: boolean } = {}): RunEventStream {
    let stream = this.#streams.get(run_id);
    if (!stream) {
      stream = new RunEventStream(run_id, () => this.#streams.delete(run_id));
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
