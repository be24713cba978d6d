// Formats numbers for people.

export const count = (value: number): string => value.toLocaleString('en-US');

export const plural = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** In powers of 1000, as usual for disks and networks. */
export const bytes = (value: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let at = 0;
  let rest = value;
  for (; rest >= 999.5 && at < units.length - 1; at++) rest /= 1_000;
  return `${at === 0 || rest >= 99.95 ? Math.round(rest) : rest.toFixed(1)} ${units[at]}`;
};

/** In the two largest units. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  if (first === -1) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value}${unit}`)
    .join(' ');
};
