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
