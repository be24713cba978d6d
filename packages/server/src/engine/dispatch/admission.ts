// How many runs one executor takes. Agents mostly wait for models, so an executor can take many of them; runs that compute delay each other
// and everything else in the process. Which kind they are follows from the reports of the executor about its event loop:
//
//   on time    up to `most`, but no more than `stepRuns` beyond those of its last report: many runs that compute are
//              noticed before all of them are started.
//   late       no more than `least`. From the second report on, further ones as long as the event loop becomes less late than it would if
//              they computed too: a run that waits beside some that compute need not wait for a slot.
//   silent, or its heap is nearly full: no more than `least`
import type { EventLoopReport } from './protocol.ts';

const stepRuns = 100;
/** Mean delay of the event loop from which it is late, and below which it is on time again. */
const lateMs = { above: 100, below: 50 };
/** An executor with runs reports every 200 ms. */
const silentMs = 600;
/** A late executor is given half as many runs again as it has, and at least this many. */
const growthRunsMin = 50;

interface Lateness {
  /** Runs that it may have. */
  readonly slots: number;
  /** Of the report that `slots` follow from. */
  readonly running: number;
  readonly delayMs: number;
  /** Further runs have made it later. */
  readonly isSettled: boolean;
}

export class Admission {
  readonly #limits: SlotLimits;
  #late: Lateness | undefined;
  #isHeapFull = false;
  /** Runs at its last report. */
  #known = 0;
  /** Monotonic time from which its next report is awaited. */
  #awaitedSinceMs = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** How many runs the executor may have now. `running`: how many it has. */
  slots(running: number, nowMs: number): number {
    const { least, most } = this.#limits;
    if (running === 0) return Math.min(most, Math.max(least, stepRuns));
    const capacity = this.capacity(running, nowMs);
    return capacity === most ? Math.min(most, Math.max(least, this.#known + stepRuns)) : capacity;
  }

  /** How many runs it may have after further reports like the last one. */
  capacity(running: number, nowMs: number): number {
    const { least, most } = this.#limits;
    if (running === 0) return most;
    if (this.#isHeapFull || nowMs - this.#awaitedSinceMs > silentMs) return least;
    return this.#late?.slots ?? most;
  }

  /** The first run of an idle executor begins. */
  begin(nowMs: number): void {
    this.#late = undefined;
    this.#isHeapFull = false;
    this.#known = 0;
    this.#awaitedSinceMs = nowMs;
  }

  report(report: Omit<EventLoopReport, 'utilization' | 'silentMs'>, nowMs: number): void {
    this.#known = report.running;
    this.#isHeapFull = report.isHeapFull;
    this.#awaitedSinceMs = nowMs;
    const isLate = report.delayMs > (this.#late ? lateMs.below : lateMs.above);
    this.#late = isLate ? this.#whileLate(report, this.#late) : undefined;
  }

  #whileLate(
    { running, delayMs }: Pick<EventLoopReport, 'running' | 'delayMs'>,
    before: Lateness | undefined,
  ): Lateness {
    const { least, most } = this.#limits;
    const isSettled = before !== undefined && (before.isSettled || doCompute(running, delayMs, before));
    const grown = running + Math.max(growthRunsMin, Math.ceil(running / 2));
    const slots = before === undefined || isSettled ? least : Math.min(most, Math.max(least, grown));
    return { slots, running, delayMs, isSettled };
  }
}

/**
 * Whether the runs that were added since then compute: runs that do make the event loop late in proportion to their number. Half of that
 * counts, since starting a run takes time too.
 */
const doCompute = (running: number, delayMs: number, before: Lateness): boolean => {
  const growth = running / Math.max(1, before.running);
  return growth > 1 && delayMs / before.delayMs > 1 + (growth - 1) / 2;
};

// How many runs an executor executes at a time: between `least` and `most`, by its admission.
export interface SlotLimits {
  readonly least: number;
  readonly most: number;
}

/** `jobs`: the setting. `jobsMax`: the largest automatic number. */
export const slotLimits = (jobs: number | 'auto', jobsMax: number): SlotLimits =>
  jobs === 'auto' ? { least: Math.min(10, jobsMax), most: jobsMax } : { least: jobs, most: jobs };

/** For a process that executes no runs. */
export const noSlots: SlotLimits = { least: 0, most: 0 };
