// Traced runs that wait to be stored, of all runs of this process. It never fails: what cannot be stored is tried again
// until there is too much of it; then the oldest go, and are counted.
import type { ExecutedTraceRun, TraceSink } from './trace-sink.ts';
import { sizeOf, toSentRun, type TracedRun, writeIds } from './traced-run.ts';

export interface OutboxOptions {
  store: TraceSink;
  /** Told about what got lost. */
  warn: (text: string) => void;
  /** Of what waits; without it enough for minutes. */
  bytesMax?: number;
}

const bytesMaxDefault = 64_000_000;
const batchRuns = 100;
const batchBytes = 4_000_000;
/** Runs that are under way are shown so often. */
const everyMs = 1_000;
/** So that what ends together is stored together. */
const soonMs = 20;
const warnEveryMs = 60_000;

export class TraceOutbox {
  readonly #options: Required<OutboxOptions>;
  /** In the order in which they came. */
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

  /** Something about the run is new. `isLast`: nothing more is to come of its trace. */
  add(run: TracedRun, isLast: boolean): void {
    this.#forget(run);
    run.write = this.#nextWrite();
    const bytes = sizeOf(run);
    this.#due.set(run, bytes);
    this.#bytes += bytes;
    this.#makeRoom();
    // At once where little happens; where much does, a statement for many runs costs little more than one for each.
    const sinceMs = performance.now() - this.#flushedAtMs;
    this.#schedule(isLast ? Math.max(soonMs, everyMs - sinceMs) : everyMs);
  }

  /** Resolves when everything is stored that was added before, or could not be. */
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
        this.#warn(`traces could not be stored, and wait: ${String(error)}`);
        return this.#schedule(everyMs);
      }
    }
  }

  /** Leaves out what cannot be written as JSON: it would fail again each time, and hold up the rest. */
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
      this.#forget(run);
    }
    return batch;
  }

  /** In front of what came meanwhile. */
  #putBack(batch: TracedRun[]): void {
    const later = this.#due;
    this.#due = new Map(batch.map((run) => [run, sizeOf(run)]));
    for (const [run, bytes] of later) this.#due.set(run, bytes);
    this.#bytes = 0;
    for (const bytes of this.#due.values()) this.#bytes += bytes;
    this.#makeRoom();
  }

  #forget(run: TracedRun): void {
    this.#bytes -= this.#due.get(run) ?? 0;
    this.#due.delete(run);
  }

  #makeRoom(): void {
    for (const run of this.#due.keys()) {
      if (this.#bytes <= this.#options.bytesMax) return;
      this.#forget(run);
      this.#dropped += 1;
      this.#warn('');
    }
  }

  #warn(text: string): void {
    const nowMs = performance.now();
    if (nowMs - this.#warnedAtMs < warnEveryMs) return;
    this.#warnedAtMs = nowMs;
    const lost = this.#dropped === 0 ? [] : [`${this.#dropped} runs are missing from traces so far`];
    this.#options.warn([...(text === '' ? [] : [text]), ...lost].join('; '));
  }
}
