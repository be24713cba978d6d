// Measures how busy the event loop of a Python process is, by pings: a blocked event loop delays their replies.
import type { OtherLoop } from '../executor/event-loop-monitor.ts';
import type { Frame } from './frames.ts';

/** A reply that takes less is no sign of a blocked loop: this process may be busy as well. */
const lateMs = 400;

export class PythonLoop implements OtherLoop {
  readonly #ping: () => Promise<Frame>;
  readonly #isWorking: () => boolean;
  /** The ping that waits for its reply. */
  #sentMs: number | undefined;
  #last: { atMs: number; cpuMs: number; delayMs: number } | undefined;
  #utilization = 0;

  constructor(ping: () => Promise<Frame>, isWorking: () => boolean) {
    this.#ping = ping;
    this.#isWorking = isWorking;
  }

  sample(): { delayMs: number; utilization: number; silentMs: number } | undefined {
    const now = performance.now();
    const waitedMs = this.#sentMs === undefined ? 0 : now - this.#sentMs;
    if (this.#sentMs === undefined && this.#isWorking()) void this.#send(now);
    if (waitedMs > lateMs) return { delayMs: waitedMs, utilization: 1, silentMs: waitedMs };
    if (!this.#isWorking()) {
      this.#last = undefined;
      return undefined;
    }
    return this.#last && { delayMs: this.#last.delayMs, utilization: this.#utilization, silentMs: 0 };
  }

  async #send(sentMs: number): Promise<void> {
    this.#sentMs = sentMs;
    try {
      const { header } = await this.#ping();
      const atMs = performance.now();
      const cpuMs = Number(header['cpu_ms']);
      const before = this.#last;
      this.#utilization = before ? Math.min(1, (cpuMs - before.cpuMs) / (atMs - before.atMs)) : 0;
      this.#last = { atMs, cpuMs, delayMs: atMs - sentMs };
    } catch {
      // The process has ended, and this one with it.
    } finally {
      this.#sentMs = undefined;
    }
  }
}
