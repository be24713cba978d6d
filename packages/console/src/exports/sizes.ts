const units = ['kB', 'MB', 'GB', 'TB'] as const;

/** `512 B`, `61.3 MB`. */
export const sizeOf = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} B`;
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 999.95 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
};

export const countOf = (count: number): string => count.toLocaleString('en-US');

/** `1 file`, `2 files`. */
export const plural = (count: number, noun: string): string =>
  `${countOf(count)} ${noun}${count === 1 ? '' : 's'}`;
