// The event streams of runs that have readers on this node. A run that executes on this node gets its events from its
// executor, any other run from its log (run-log-tail.ts). A stream is deleted when it has no reader, or when the run has
// ended: resumable events are in the log.
import { RunEventStream, type RunOutcome } from './run-event-stream.ts';

export class RunEventHub {
  readonly #streams = new Map<string, RunEventStream>();

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
