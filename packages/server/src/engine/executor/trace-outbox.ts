// Buffers the trace runs of all runs of this process until they are stored. Failures to store are retried and never
// thrown. When too many bytes wait, the oldest trace runs are dropped and counted.
import type { ExecutedTraceRun, TraceSink } from './trace-sink.ts';
import { sizeOf, toSentRun, type TracedRun, writeIds } from './traced-run.ts';

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
  #due = new Map<TracedRun, number>();
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
      const batch = this.#take();
      try {
        const sent = this.#toSent(batch);
        if (sent.size > 0) await this.#options.store([...sent.values()]);
        for (const [run, { isPending }] of sent) {
          run.isKnown = true;
          run.isStoredPending ||= isPending;
        }
      } catch (error) {
        this.#putBack(batch);
        this.#warn(`failed to store traces, retrying: ${String(error)}`);
        return this.#schedule(everyMs);
      }
    }
  }

  /** Omits trace runs that cannot be serialised: they would fail at every retry and block the others. */
  #toSent(batch: TracedRun[]): Map<TracedRun, ExecutedTraceRun> {
    const sent = new Map<TracedRun, ExecutedTraceRun>();
    for (const run of batch) {
      try {
        sent.set(run, toSentRun(run));
      } catch (error) {
        this.#dropped += 1;
        this.#warn(`trace run ${run.run.id} cannot be written as JSON: ${String(error)}`);
      }
    }
    return sent;
  }

  #take(): TracedRun[] {
    const batch: TracedRun[] = [];
    const before = this.#bytes;
    for (const run of this.#due.keys()) {
      if (batch.length === batchRuns || before - this.#bytes > batchBytes) break;
      batch.push(run);
      this.#remove(run);
    }
    return batch;
  }

  /** Puts the trace runs before those that were added meanwhile. */
  #putBack(batch: TracedRun[]): void {
    const later = this.#due;
    this.#due = new Map(batch.map((run) => [run, sizeOf(run)]));
    for (const [run, bytes] of later) this.#due.set(run, bytes);
    this.#bytes = 0;
    for (const bytes of this.#due.values()) this.#bytes += bytes;
    this.#makeRoom();
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
