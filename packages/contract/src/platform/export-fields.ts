// The columns that an export may have, in their order in the files.

/** Those of an export that names none. */
export const usualExportFields = [
  'id',
  'tenant_id',
  'session_id',
  'trace_id',
  'parent_run_id',
  'parent_run_ids',
  'reference_example_id',
  'name',
  'run_type',
  'start_time',
  'end_time',
  'status',
  'is_root',
  'dotted_order',
  'trace_tier',
  'inputs',
  'outputs',
  'error',
  'extra',
  'events',
  'tags',
  'feedback_stats',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
  'prompt_cost',
  'completion_cost',
  'first_token_time',
] as const;

/** Those that must be named. */
export const furtherExportFields = [
  'thread_id',
  'latency_ms',
  'metadata',
  'session_name',
  'prompt_token_details',
  'completion_token_details',
  'inserted_at',
  'updated_at',
] as const;

export const exportFields = [...usualExportFields, ...furtherExportFields] as const;
export type ExportField = (typeof exportFields)[number];
