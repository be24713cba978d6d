// How column values come out of the driver: times as ISO text in UTC, 64-bit integers as numbers.
import pg from 'pg';

const oid = { int8: 20, timestamptz: 1184, uuidArray: 2951 };

const time = (text: string): string => new Date(text).toISOString();

const integer = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit a number`);
  return value;
};

export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: ((id: number, format?: 'text' | 'binary') => {
    if (id === oid.timestamptz) return time;
    if (id === oid.int8) return integer;
    return pg.types.getTypeParser(id, format as 'text');
  }) as typeof pg.types.getTypeParser,
};
