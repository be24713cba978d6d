// Names of the fields and statistics that clients can select.
import * as z from 'zod';

/** The fields that `selects` accepts. Of those in the second list the server stores nothing: they are absent from every trace run. */
export const runFields = [
  'ID',
  'NAME',
  'RUN_TYPE',
  'STATUS',
  'START_TIME',
  'END_TIME',
  'LATENCY_SECONDS',
  'FIRST_TOKEN_TIME',
  'ERROR',
  'ERROR_PREVIEW',
  'EXTRA',
  'METADATA',
  'EVENTS',
  'INPUTS',
  'INPUTS_PREVIEW',
  'OUTPUTS',
  'OUTPUTS_PREVIEW',
  'MANIFEST',
  'PARENT_RUN_IDS',
  'PROJECT_ID',
  'TRACE_ID',
  'THREAD_ID',
  'DOTTED_ORDER',
  'IS_ROOT',
  'REFERENCE_EXAMPLE_ID',
  'TOTAL_TOKENS',
  'PROMPT_TOKENS',
  'COMPLETION_TOKENS',
  'TOTAL_COST',
  'PROMPT_COST',
  'COMPLETION_COST',
  'PROMPT_TOKEN_DETAILS',
  'COMPLETION_TOKEN_DETAILS',
  'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS',
  'TAGS',
  'APP_PATH',
  'FEEDBACK_STATS',
  'ATTACHMENTS',
] as const;
export const absentRunFields = [
  'REFERENCE_DATASET_ID',
  'PRICE_MODEL_ID',
  'THREAD_EVALUATION_TIME',
  'IS_IN_DATASET',
  'LAST_QUEUED_AT',
  'SHARE_URL',
  'LS_USER_ID',
] as const;

export const ThreadTraceField = z.enum([
  'THREAD_ID',
  'TRACE_ID',
  'OP',
  'PROMPT_TOKENS',
  'COMPLETION_TOKENS',
  'TOTAL_TOKENS',
  'START_TIME',
  'END_TIME',
  'LATENCY',
  'FIRST_TOKEN_TIME',
  'INPUTS_PREVIEW',
  'OUTPUTS_PREVIEW',
  'INPUTS',
  'OUTPUTS',
  'ERROR',
  'PROMPT_COST',
  'COMPLETION_COST',
  'TOTAL_COST',
  'PROMPT_TOKEN_DETAILS',
  'NAME',
  'COMPLETION_TOKEN_DETAILS',
  'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS',
  'ERROR_PREVIEW',
  'TURN_NUMBER',
] as const);

/** Sums that one statement computes for any set of threads. */
const summed = [
  'LATENCY_P50',
  'LATENCY_P99',
  'PROMPT_TOKENS',
  'COMPLETION_TOKENS',
  'TOTAL_TOKENS',
  'PROMPT_COST',
  'COMPLETION_COST',
  'TOTAL_COST',
] as const;
const details = [
  'PROMPT_TOKEN_DETAILS',
  'COMPLETION_TOKEN_DETAILS',
  'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS',
] as const;

/** Statistics that stock clients can select and that the server does not compute. */
export const absentThreadStats: readonly string[] = [
  ...details,
  'FEEDBACK_STATS',
  'THREAD_FEEDBACK_STATS',
  'STREAMING_RATE',
  'MEDIAN_TOKENS',
];

export const ThreadStat = z.enum([
  'TURNS',
  'FIRST_START_TIME',
  'LAST_START_TIME',
  'LAST_END_TIME',
  'FEEDBACK_STATS',
  ...summed,
  ...details,
] as const);
export const AggregateStat = z.enum([
  'THREAD_COUNT',
  'TRACE_COUNT',
  'ERROR_RATE',
  'FIRST_TOKEN_P50',
  'FIRST_TOKEN_P99',
  'STREAMING_RATE',
  'MEDIAN_TOKENS',
  'THREAD_FEEDBACK_STATS',
  ...summed,
  ...details,
] as const);
