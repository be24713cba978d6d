import type { RunStats, RunStatsPoint } from '@svc/contract';
import type { Bind } from './trace-condition-sql.ts';

export const tokenColumns = ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const;
export const costColumns = ['prompt_cost', 'completion_cost', 'total_cost'] as const;

/** SQL for the sums of costs: those of model calls that count (`is_counted`), and of all other trace runs. */
export const costSums = costColumns
  .map(
    (column) =>
      `sum(${column}) filter (where run_type is distinct from 'llm' or is_counted)::text as ${column}`,
  )
  .join(', ');

export type TraceRunSums = Omit<RunStats, 'error_rate'>;

/** Consecutive intervals of equal length. */
export interface Intervals {
  /** Start of the first one in seconds since 1970: at or before the earliest start in scope. */
  first: number;
  seconds: number;
}

/** Sums of the trace runs that started in one interval. `at`: its start in seconds since 1970. */
export type IntervalSums = Omit<RunStatsPoint, 'start_time'> & { at: number };

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
