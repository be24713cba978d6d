/** What the logger writes first in each line. `time`: Unix milliseconds. */
export interface LevelAndTime {
  level?: number;
  time?: number;
}

/** Read from the beginning of the line, because a caller may log fields with the same names. Empty for a line of somebody else. */
export const levelAndTime = (line: string): LevelAndTime => {
  const [, level, time] = /^\{"level":(\d+),"time":(\d+)/.exec(line) ?? [];
  return level === undefined || time === undefined ? {} : { level: Number(level), time: Number(time) };
};
