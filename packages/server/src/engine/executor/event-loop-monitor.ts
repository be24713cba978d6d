// Reports how late the timers of this process are, how busy its event loop is, and whether its heap is nearly full: every 200 ms while runs
// execute or calls are answered, so that the server process notices an event loop that is blocked.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { EventLoopReport } from '../dispatch/protocol.ts';

const sampleMs = 50;
const reportMs = 200;
const heapFull = 0.75;

/** The load of an event loop in another process that executes runs of this one. */
export interface OtherLoop {
  /** Since the last call; undefined when it executes nothing. `silentMs`: for how long it has not responded. */
  sample(): { delayMs: number; utilization: number; silentMs: number } | undefined;
}

export class EventLoopMonitor {
  readonly #report: (report: EventLoopReport) => void;
  readonly #other: OtherLoop | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #delays: number[] = [];
  #reportedMs = 0;
  /** Since the process began, at the last report. */
  #counted: EventLoopUtilization = performance.eventLoopUtilization();

  /**
   * `report` is called every 200 ms while there is work, and later when the event loop is blocked. Of two event loops, the busier one is
   * reported.
   */
  constructor(report: (report: EventLoopReport) => void, other?: OtherLoop) {
    this.#report = report;
    this.#other = other;
  }

  /** Called when a run or the work for a call begins or ends. */
  setRunning(runs: number, calls = 0): void {
    this.#running = runs;
    if (runs + calls === 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#delays = [];
    } else if (!this.#timer) {
      this.#reportedMs = performance.now();
      this.#counted = performance.eventLoopUtilization();
      this.#timer = this.#sampleAfter(this.#reportedMs);
    }
  }

  #sampleAfter(startedMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      this.#delays.push(Math.max(0, now - startedMs - sampleMs));
      if (now - this.#reportedMs >= reportMs) this.#send(now);
      this.#timer = this.#sampleAfter(now);
    }, sampleMs).unref();
  }

  #send(nowMs: number): void {
    const delays = this.#delays.splice(0);
    const delayMs = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    const counted = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(counted, this.#counted);
    this.#reportedMs = nowMs;
    this.#counted = counted;
    const other = this.#other?.sample();
    this.#report({
      running: this.#running,
      delayMs: Math.max(delayMs, other?.delayMs ?? 0),
      utilization: Math.max(utilization, other?.utilization ?? 0),
      isHeapFull: used_heap_size > heapFull * heap_size_limit,
      silentMs: other?.silentMs ?? 0,
    });
  }
}
