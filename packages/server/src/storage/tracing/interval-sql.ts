import type { Bind } from './trace-condition-sql.ts';
import type { Intervals } from './trace-run-sums.ts';

/** Expressions. */
export interface IntervalSql {
  /** Where the interval of a time begins. */
  beginOf: (time: string) => string;
  /** Where the interval with this begin ends. */
  endOf: (begin: string) => string;
}

/** The origin is the first interval: before the origin, date_bin() of older PostgreSQL releases returns a wrong interval for some times. */
export const intervalSql = ({ first, seconds }: Intervals, bind: Bind): IntervalSql => {
  const origin = `to_timestamp(${bind(first)}::double precision)`;
  const length = `${bind(seconds)}::double precision * interval '1 second'`;
  return {
    beginOf: (time) => `date_bin(${length}, ${time}, ${origin})`,
    endOf: (begin) => `${begin} + ${length}`,
  };
};

/** Seconds since 1970. */
export const secondsSql = (begin: string): string => `date_part('epoch', ${begin})`;
