// Parses times that tracers send: ISO 8601 with a zone, or without (then it is UTC), or milliseconds since 1970. Precision: microseconds.

const iso = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|z|[+-]\d\d:?\d\d)?$/;

const yearMax = 9_999;
const msMax = Date.UTC(yearMax, 11, 31, 23, 59, 59, 999);
const msMin = -62_135_596_800_000; // the year 1

/** Returns ISO 8601 with microseconds and a zone, or undefined when the value is not a time. */
export const toTime = (value: unknown): string | undefined => {
  if (typeof value === 'number') return fromMs(value);
  if (typeof value !== 'string') return undefined;
  const match = iso.exec(value);
  if (!match) return undefined;
  const [
    ,
    year = '',
    month = '',
    day = '',
    hour = '',
    minute = '',
    second = '00',
    fraction = '',
    zone = 'Z',
  ] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second));
  // Date accepts the 30th of February and returns the 2nd of March. Such times are invalid.
  const written = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  if (Number(year) < 1 || date.toISOString().slice(0, 19) !== written) return undefined;
  const offsetMs = offsetOf(zone);
  // PostgreSQL writes a time of another year in UTC in a form that clients do not read.
  if (offsetMs === undefined || !isKnownMs(date.getTime() - offsetMs)) return undefined;
  return `${written}.${fraction.slice(0, 6).padEnd(6, '0')}${zone === 'z' ? 'Z' : zone}`;
};

const isKnownMs = (ms: number): boolean => ms >= msMin && ms <= msMax;

/** The offset of a zone in milliseconds; undefined when PostgreSQL does not know it. */
const offsetOf = (zone: string): number | undefined => {
  if (zone.length === 1) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 15 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
};

const fromMs = (value: number): string | undefined => {
  if (!isKnownMs(value)) return undefined;
  const whole = Math.floor(value);
  const micros = Math.floor((value - whole) * 1_000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
};

/** Milliseconds since 1970 of a time that `toTime` returned. */
export const timeMs = (time: string): number => Date.parse(time.replace(/(\.\d{3})\d+/, '$1'));

/** Microseconds since 1970 of a time that `toTime` returned. */
export const microsOf = (time: string): bigint => BigInt(timeMs(time)) * 1_000n + BigInt(time.slice(23, 26));

/** The inverse of `microsOf`: a time in UTC. */
export const timeOfMicros = (micros: bigint): string => {
  const ms = micros >= 0n || micros % 1_000n === 0n ? micros / 1_000n : micros / 1_000n - 1n;
  return `${new Date(Number(ms)).toISOString().slice(0, -1)}${String(micros - ms * 1_000n).padStart(3, '0')}Z`;
};
