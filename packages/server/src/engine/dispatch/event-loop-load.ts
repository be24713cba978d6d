// Whether the event loop of an executor is busy: it never waits, or is blocked and reports nothing.
import type { EventLoopReport } from './protocol.ts';

/** Share of the time since the last report: busy from here on, and no longer busy below. */
const utilization = { busy: 0.95, idle: 0.8 };
/** Starting many runs takes less time than this. */
export const longBusyMs = 1_000;
/** An executor with runs reports every 200 ms. */
const silentMs = 600;

export type LoadChange = 'became_busy' | 'idles' | undefined;

export class EventLoopLoad {
  #busySinceMs: number | undefined;
  /** Monotonic time from which its next report is awaited. */
  #awaitedSinceMs = 0;

  /** The first run of an idle executor begins. */
  begin(nowMs: number): void {
    this.#busySinceMs = undefined;
    this.#awaitedSinceMs = nowMs;
  }

  /** Returns how the report changes the load of the executor. */
  report({ utilization: share }: Pick<EventLoopReport, 'utilization'>, nowMs: number): LoadChange {
    const wasBusy = this.#busySinceMs !== undefined;
    const isBusy = share >= (wasBusy ? utilization.idle : utilization.busy);
    if (!isBusy) this.#busySinceMs = undefined;
    else this.#busySinceMs ??= this.#awaitedSinceMs;
    this.#awaitedSinceMs = nowMs;
    if (!isBusy) return 'idles';
    return wasBusy ? undefined : 'became_busy';
  }

  /** An executor with runs that has been silent for long becomes busy without a report. */
  noteSilence(nowMs: number): LoadChange {
    if (this.#busySinceMs !== undefined || nowMs - this.#awaitedSinceMs <= silentMs) return undefined;
    this.#busySinceMs = this.#awaitedSinceMs;
    return 'became_busy';
  }

  /** For how long an executor with runs has been busy, in milliseconds; 0 when it is not. */
  busyMs(nowMs: number): number {
    return this.#busySinceMs === undefined ? 0 : nowMs - this.#busySinceMs;
  }
}
