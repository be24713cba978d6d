// Text form of durations (`500ms`, `30s`, `2m`, `4h`, `1d`) in milliseconds, and of sizes (`512b`, `64kb`, `20mb`, `1gb`) in bytes.

type Units = Readonly<Record<string, number>>;

const durations: Units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Powers of 1024. */
const sizes: Units = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

const pattern = /^(\d{1,15}(?:\.\d{1,6})?)([a-z]{1,2})$/;

/** A whole number; undefined when the text is not a number with a unit. */
const parse = (text: string, units: Units): number | undefined => {
  const [, amount, unit = ''] = pattern.exec(text.trim()) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (factor === undefined) return undefined;
  const value = Math.round(Number(amount) * factor);
  return Number.isSafeInteger(value) ? value : undefined;
};

/** With the largest unit of which the value is a multiple. */
const format = (value: number, units: Units): string => {
  const [unit, factor] = Object.entries(units).findLast(([, factor]) => value % factor === 0) ?? ['', 1];
  return `${value / factor}${unit}`;
};

/** Whole milliseconds; undefined when the text is not a duration. */
export const parseDuration = (text: string): number | undefined => parse(text, durations);

/** The shortest text that `parseDuration` turns into this number. */
export const formatDuration = (ms: number): string => (ms === 0 ? '0s' : format(ms, durations));

/** Whole bytes; undefined when the text is not a size. */
export const parseSize = (text: string): number | undefined => parse(text.toLowerCase(), sizes);

/** The shortest text that `parseSize` turns into this number. */
export const formatSize = (bytes: number): string => (bytes === 0 ? '0b' : format(bytes, sizes));
