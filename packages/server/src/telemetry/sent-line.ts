import { levelAndTime } from './level-and-time.ts';

/** Longer lines are written, but not sent. */
export const sentLineBytes = 65_536;

/** The line; for one that is too long, a line with its level and its time that says so. */
export const sentLine = (line: string): string => {
  // Bytes are counted only where the number of characters leaves it open.
  if (line.length * 3 <= sentLineBytes) return line;
  const bytes = Buffer.byteLength(line);
  if (bytes <= sentLineBytes) return line;
  const { level = 30, time = Date.now() } = levelAndTime(line);
  const msg = `a line of ${bytes} bytes, which is too long to be sent`;
  return JSON.stringify({ level, time, msg });
};
