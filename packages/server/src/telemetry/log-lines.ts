// The lines of a log, for a reader besides the stream to which they are written.
import type { Logger } from 'pino';

type Read = (line: string) => void;

const linesKey = Symbol('lines of the log');

/** Lines that are kept for the first reader: a command logs before it starts its server. */
const firstLinesMax = 64;

export class LogLines {
  readonly #readers: Read[] = [];
  #first: string[] | undefined = [];
  #isUnread = false;

  /** The logger calls it with each line, after secrets are redacted. */
  note(line: string): void {
    if (this.#isUnread) return;
    const read = this.#readers.at(-1);
    if (read) read(line);
    else if (this.#first && this.#first.length < firstLinesMax) this.#first.push(line);
  }

  /** Only the newest reader gets lines: after a restart of `svc dev`, the servers before still use the same log. */
  read(read: Read): Disposable {
    for (const line of this.#first ?? []) read(line);
    this.#first = undefined;
    this.#readers.push(read);
    return {
      [Symbol.dispose]: () => {
        const at = this.#readers.indexOf(read);
        if (at >= 0) this.#readers.splice(at, 1);
      },
    };
  }

  /** No reader gets the lines that `work` logs, so that a reader can log its own failures. */
  withoutReaders(work: () => void): void {
    this.#isUnread = true;
    try {
      work();
    } finally {
      this.#isUnread = false;
    }
  }

  /** Makes `linesOf` find this object for the logger and its children. */
  attach(logger: Logger): void {
    Object.defineProperty(logger, linesKey, { value: this });
  }
}

/** Undefined for a logger that `createLogger` has not made. */
export const linesOf = (logger: Logger): LogLines | undefined =>
  (logger as { [linesKey]?: LogLines })[linesKey];

/** Longer lines are written, but not sent. */
export const sentLineBytes = 65_536;

/** Returns the line. Replaces a line that is too long by a note with the same level and time. */
export const sentLine = (line: string): string => {
  // Bytes are counted only where the number of characters leaves it open.
  if (line.length * 3 <= sentLineBytes) return line;
  const bytes = Buffer.byteLength(line);
  if (bytes <= sentLineBytes) return line;
  const { level = 30, time = Date.now() } = levelAndTime(line);
  const msg = `a line of ${bytes} bytes, which is too long to be sent`;
  return JSON.stringify({ level, time, msg });
};

/** What the logger writes first in each line. `time`: Unix milliseconds. */
interface LevelAndTime {
  level?: number;
  time?: number;
}

/** Read from the beginning of the line, because a caller may log fields with the same names. Empty for a line of somebody else. */
export const levelAndTime = (line: string): LevelAndTime => {
  const [, level, time] = /^\{"level":(\d+),"time":(\d+)/.exec(line) ?? [];
  return level === undefined || time === undefined ? {} : { level: Number(level), time: Number(time) };
};
