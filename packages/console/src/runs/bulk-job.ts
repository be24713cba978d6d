// Applies an action to all runs that match, a page at a time, and counts what has happened. It lives in the browser: the server knows only
// its requests, which are bounded to the runs of one thread.
import type {
  BulkAction,
  BulkOperation,
  BulkRun,
  MatchingPage,
  ReadMatching,
  Report,
} from './bulk-operation.ts';

/** Runs that failed for the same reason. */
export interface BulkFailure {
  reason: string;
  count: number;
  /** The first ones. */
  runs: readonly BulkRun[];
}

export interface BulkProgress {
  phase: 'running' | 'stopping' | 'stopped' | 'finished';
  done: number;
  failed: number;
  /** Runs that were read and are neither done nor failed. */
  left: number;
  /** More runs match than were read. */
  hasMore: boolean;
  failures: readonly BulkFailure[];
  /** Why the next page could not be read, which has stopped the job. */
  error: Error | undefined;
}

/** Threads that are worked on at the same time. */
const parallel = 4;
const shownPerReason = 5;
/** Reasons that name ids would be as many as runs. */
const reasonsMax = 20;
const otherReasons = 'Other reasons';

export class BulkJob {
  readonly id: string;
  readonly action: BulkAction;
  readonly #operation: BulkOperation;
  readonly #read: ReadMatching;
  readonly #listeners = new Set<() => void>();
  #page: MatchingPage;
  #progress: BulkProgress;

  constructor(parts: {
    id: string;
    action: BulkAction;
    operation: BulkOperation;
    /** The page that was shown before the job, so that the job begins with exactly these runs. */
    first: MatchingPage;
    read: ReadMatching;
  }) {
    this.id = parts.id;
    this.action = parts.action;
    this.#operation = parts.operation;
    this.#read = parts.read;
    this.#page = parts.first;
    this.#progress = {
      phase: 'running',
      done: 0,
      failed: 0,
      left: parts.first.runs.length,
      hasMore: parts.first.next !== undefined,
      failures: [],
      error: undefined,
    };
  }

  readonly progress = (): BulkProgress => this.#progress;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Starts no further requests. Those that were sent are waited for, so that the counts are right. */
  stop(): void {
    if (this.#progress.phase === 'running') this.#change({ phase: 'stopping' });
  }

  /** Resolves when all runs are done or failed, or the job was stopped. */
  async run(): Promise<void> {
    await this.#workOn(this.#page.runs);
    while (!this.#isStopped() && this.#page.next !== undefined) {
      try {
        this.#page = await this.#read(this.#page.next);
      } catch (error) {
        this.#change({ phase: 'stopped', error: error as Error });
        return;
      }
      const { runs, next } = this.#page;
      this.#change({ left: this.#progress.left + runs.length, hasMore: next !== undefined });
      await this.#workOn(runs);
    }
    this.#change({
      phase: this.#progress.left > 0 || this.#page.next !== undefined ? 'stopped' : 'finished',
    });
  }

  readonly #isStopped = (): boolean => this.#progress.phase !== 'running';

  async #workOn(runs: readonly BulkRun[]): Promise<void> {
    const threads = byThread(runs).values();
    const work = async (): Promise<void> => {
      // The workers share one iterator: each takes the next thread.
      for (const ofThread of threads) {
        if (this.#isStopped()) return;
        await this.#operation(ofThread, this.#report, this.#isStopped);
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
  }

  readonly #report: Report = (run, reason) => {
    const { done, failed, left, failures } = this.#progress;
    if (reason === undefined) this.#change({ done: done + 1, left: left - 1 });
    else this.#change({ failed: failed + 1, left: left - 1, failures: withFailure(failures, run, reason) });
  };

  #change(changed: Partial<BulkProgress>): void {
    this.#progress = { ...this.#progress, ...changed };
    for (const listener of this.#listeners) listener();
  }
}

const byThread = (runs: readonly BulkRun[]): Map<string, BulkRun[]> => {
  const threads = new Map<string, BulkRun[]>();
  for (const run of runs) {
    const known = threads.get(run.thread_id);
    if (known) known.push(run);
    else threads.set(run.thread_id, [run]);
  }
  return threads;
};

const withFailure = (failures: readonly BulkFailure[], run: BulkRun, given: string): BulkFailure[] => {
  const find = (reason: string): BulkFailure | undefined =>
    failures.find((failure) => failure.reason === reason);
  const reason = find(given) || failures.length < reasonsMax ? given : otherReasons;
  const known = find(reason);
  if (!known) return [...failures, { reason, count: 1, runs: [run] }];
  const runs = known.runs.length < shownPerReason ? [...known.runs, run] : known.runs;
  return failures.map((failure) => (failure === known ? { reason, count: known.count + 1, runs } : failure));
};
