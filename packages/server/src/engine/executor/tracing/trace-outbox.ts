// Buffers the trace runs of all runs of this process until they are stored. Failures to store are retried and never
// thrown. When too many bytes wait, the oldest trace runs are dropped and counted. Not GroupedWrites: no caller waits, and the newest state of a
// trace run replaces its earlier state in the queue.
import {
  type ExecutedTraceRun,
  type TraceSink,
  sizeOf,
  toSentRun,
  type TracedRun,
  writeIds,
} from './traced-run.ts';

export interface OutboxOptions {
  store: TraceSink;
  /** Called when traces could not be stored, or were dropped. */
  warn: (text: string) => void;
  /** Bytes that may wait; the default is enough for minutes. */
  bytesMax?: number;
}

const bytesMaxDefault = 64_000_000;
const batchRuns = 100;
const batchBytes = 4_000_000;
/** How often trace runs that have not ended are stored. */
const everyMs = 1_000;
/** Delay after the end of a trace, so that trace runs that end together are stored together. */
const soonMs = 20;
const warnEveryMs = 60_000;

export class TraceOutbox {
  readonly #options: Required<OutboxOptions>;
  /** Trace runs to store, oldest first, with their sizes. */
  readonly #due = new Map<TracedRun, number>();
  #bytes = 0;
  #dropped = 0;
  #warnedAtMs = -warnEveryMs;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = Infinity;
  #flushing: Promise<void> | undefined;
  #flushedAtMs = -everyMs;
  readonly #nextWrite = writeIds();

  constructor(options: OutboxOptions) {
    this.#options = { bytesMax: bytesMaxDefault, ...options };
  }

  /** The trace run is new or has changed. `isLast`: nothing more follows for its trace. */
  add(run: TracedRun, isLast: boolean): void {
    this.#remove(run);
    run.write = this.#nextWrite();
    const bytes = sizeOf(run);
    this.#due.set(run, bytes);
    this.#bytes += bytes;
    this.#makeRoom();
    // With few runs, a trace is stored when it ends. With many, one statement stores many trace runs at little more cost
    // than one.
    const sinceMs = performance.now() - this.#flushedAtMs;
    this.#schedule(isLast ? Math.max(soonMs, everyMs - sinceMs) : everyMs);
  }

  /** Resolves when all trace runs that were added before are stored, or could not be stored. */
  async flush(): Promise<void> {
    await this.#flushing;
    await (this.#flushing ??= this.#storeAll().finally(() => (this.#flushing = undefined)));
  }

  #schedule(ms: number): void {
    if (this.#timerMs <= ms) return;
    clearTimeout(this.#timer);
    this.#timerMs = ms;
    this.#timer = setTimeout(() => {
      this.#timerMs = Infinity;
      this.#flushedAtMs = performance.now();
      void this.flush();
    }, ms);
  }

  async #storeAll(): Promise<void> {
    while (this.#due.size > 0) {
      const sent = this.#oldest();
      try {
        if (sent.size > 0) await this.#options.store([...sent.values()]);
      } catch (error) {
        this.#warn(`failed to store traces, retrying: ${String(error)}`);
        return this.#schedule(everyMs);
      }
      for (const [run, { isPending, hash }] of sent) {
        run.isKnown = true;
        run.isStoredPending ||= isPending;
        // A run that has changed while it was stored stays in the queue, and is stored again.
        if (run.write === hash) this.#remove(run);
      }
    }
  }

  /** The oldest trace runs, for one statement. Drops those that cannot be serialised: they would fail at every retry and block the others. */
  #oldest(): Map<TracedRun, ExecutedTraceRun> {
    const sent = new Map<TracedRun, ExecutedTraceRun>();
    let bytes = 0;
    for (const [run, size] of this.#due) {
      if (sent.size === batchRuns || bytes > batchBytes) break;
      try {
        sent.set(run, toSentRun(run));
        bytes += size;
      } catch (error) {
        this.#remove(run);
        this.#dropped += 1;
        this.#warn(`trace run ${run.run.id} cannot be written as JSON: ${String(error)}`);
      }
    }
    return sent;
  }

  #remove(run: TracedRun): void {
    this.#bytes -= this.#due.get(run) ?? 0;
    this.#due.delete(run);
  }

  #makeRoom(): void {
    for (const run of this.#due.keys()) {
      if (this.#bytes <= this.#options.bytesMax) return;
      this.#remove(run);
      this.#dropped += 1;
      this.#warn('');
    }
  }

  #warn(text: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#warnedAtMs < warnEveryMs) return;
    this.#warnedAtMs = nowMs;
    const lost = this.#dropped === 0 ? [] : [`${this.#dropped} trace runs were dropped so far`];
    this.#options.warn([...(text === '' ? [] : [text]), ...lost].join('; '));
  }
}
