// How many lines a process may send to the server process, which has other work. A graph can log faster than the server could send.
import { sentLine } from './log-lines.ts';

const bytesPerSecond = 262_144;
const burstBytes = 1_048_576;

export class LogRateLimit {
  readonly #now: () => number;
  #bytes = burstBytes;
  #sinceMs: number;
  #dropped = 0;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#sinceMs = now();
  }

  /** What to send for the line. `dropped`: lines before it that were not to be sent. Undefined when the line is dropped. */
  take(line: string): { line: string; dropped: number } | undefined {
    const nowMs = this.#now();
    this.#bytes = Math.min(burstBytes, this.#bytes + ((nowMs - this.#sinceMs) * bytesPerSecond) / 1_000);
    this.#sinceMs = nowMs;
    const sent = sentLine(line);
    const bytes = Buffer.byteLength(sent);
    if (bytes > this.#bytes) {
      this.#dropped += 1;
      return undefined;
    }
    this.#bytes -= bytes;
    const dropped = this.#dropped;
    this.#dropped = 0;
    return { line: sent, dropped };
  }
}
