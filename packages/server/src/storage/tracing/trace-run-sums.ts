import type { Bind } from './trace-condition-sql.ts';

export interface TraceRunSums {
  run_count: number;
  error_count: number;
  /** Seconds. */
  latency_p50: number | null;
  latency_p99: number | null;
  first_token_p50: number | null;
  first_token_p99: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Decimals. */
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  last_run_start_time: string | null;
}

/** Consecutive intervals of equal length. */
export interface Intervals {
  /** Start of the first one in seconds since 1970: at or before the earliest start in scope. */
  first: number;
  seconds: number;
}

/** Sums of the trace runs that started in one interval. `at`: its start in seconds since 1970. */
export type IntervalSums = Omit<TraceRunSums, 'last_run_start_time'> & { at: number };

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
