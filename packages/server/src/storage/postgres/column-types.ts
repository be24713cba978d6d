// How the driver converts column values: times to ISO text in UTC, dates to text, 64-bit integers to numbers.
import pg from 'pg';

/** PostgreSQL writes `0020-01-31 12:00:00+00`. Date.parse() knows years before 1000 only in ISO 8601. */
const time = (text: string): string =>
  new Date(`${text.slice(0, 10)}T${text.slice(11).replace('+00', 'Z')}`).toISOString();

const integer = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
};

/** By type oid. The session's time zone is UTC, so a timestamp without time zone is in UTC as well. */
const parsers = new Map<number, (text: string) => unknown>([
  [20, integer], // int8
  [1082, (text) => text], // date
  [1114, (text) => time(`${text}Z`)], // timestamp
  [1184, time], // timestamptz
]);

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') =>
    parsers.get(id) ?? pg.types.getTypeParser(id, format as 'text')) as typeof pg.types.getTypeParser,
};
