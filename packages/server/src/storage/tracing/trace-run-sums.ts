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
