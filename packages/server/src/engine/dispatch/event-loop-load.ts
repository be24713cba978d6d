// Whether the event loop of an executor is busy: it never waits, or is blocked and reports nothing.
import type { EventLoopReport } from './protocol.ts';

/** Share of the time since the last report: busy from here on, and no longer busy below. */
const utilization = { busy: 0.95, idle: 0.8 };
/** A busy period counts from this length on: to start many runs takes less. */
export const longBusyMs = 1_000;
/** An executor with runs reports this often. */
const reportMs = 200;
const silentMs = 3 * reportMs;

export type LoadChange = 'became_busy' | 'idles' | undefined;

export class EventLoopLoad {
  #busySinceMs: number | undefined;
  /** It has been busy for long, which was returned. */
  #isLong = false;
  /** Monotonic time from which its next report is awaited. */
  #awaitedSinceMs = 0;

  /** The first run of an idle executor begins. */
  begin(nowMs: number): void {
    this.#busySinceMs = undefined;
    this.#isLong = false;
    this.#awaitedSinceMs = nowMs;
  }

  /** Returns how the report changes the load of the executor. */
  report({ utilization: share }: Pick<EventLoopReport, 'utilization'>, nowMs: number): LoadChange {
    const isBusy = share >= (this.#busySinceMs === undefined ? utilization.busy : utilization.idle);
    if (!isBusy) this.begin(nowMs);
    else this.#busySinceMs ??= this.#awaitedSinceMs;
    this.#awaitedSinceMs = nowMs;
    return isBusy ? this.#noteLong(nowMs) : 'idles';
  }

  /** An executor with runs that has been silent for long becomes busy without a report. */
  noteSilence(nowMs: number): LoadChange {
    if (nowMs - this.#awaitedSinceMs > silentMs) this.#busySinceMs ??= this.#awaitedSinceMs;
    return this.#noteLong(nowMs);
  }

  /** For how long an executor with runs has been busy, in milliseconds; 0 when it is not. */
  busyMs(nowMs: number): number {
    return this.#busySinceMs === undefined ? 0 : nowMs - this.#busySinceMs;
  }

  /** Whether a run that began at this time may be the reason: runs that a busy executor receives are not. */
  mayBeReason(begunMs: number): boolean {
    return this.#busySinceMs !== undefined && begunMs <= this.#busySinceMs + reportMs;
  }

  /** Once in each busy period. */
  #noteLong(nowMs: number): LoadChange {
    if (this.#isLong || this.busyMs(nowMs) < longBusyMs) return undefined;
    this.#isLong = true;
    return 'became_busy';
  }
}
