// Tells whether this process is overloaded: its event loop is late, or its heap is nearly full. Measures only while runs execute, and reports
// every 200 ms, so that the server process notices an event loop that is blocked.
import { getHeapStatistics } from 'node:v8';

const sampleMs = 50;
const samplesPerReport = 4;
/** Mean delay of the event loop from which the process is overloaded, and below which it is not any more. */
const lateMs = { above: 100, below: 50 };
const heapFull = 0.75;

export class OverloadMonitor {
  readonly #report: (isOverloaded: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  #isOverloaded = false;
  #delays: number[] = [];

  /** `report` is called every 200 ms while runs execute. */
  constructor(report: (isOverloaded: boolean) => void) {
    this.#report = report;
  }

  /** Called when a run begins or ends. */
  setRunning(runs: number): void {
    if (runs > 0) this.#timer ??= this.#sampleAfter(performance.now());
    else {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isOverloaded = false;
      this.#delays = [];
    }
  }

  #sampleAfter(startedMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      this.#delays.push(Math.max(0, now - startedMs - sampleMs));
      if (this.#delays.length === samplesPerReport) this.#send(this.#delays.splice(0));
      this.#timer = this.#sampleAfter(now);
    }, sampleMs).unref();
  }

  #send(delays: number[]): void {
    const meanMs = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    const isLate = meanMs > (this.#isOverloaded ? lateMs.below : lateMs.above);
    const { used_heap_size, heap_size_limit } = getHeapStatistics();
    this.#isOverloaded = isLate || used_heap_size > heapFull * heap_size_limit;
    this.#report(this.#isOverloaded);
  }
}
