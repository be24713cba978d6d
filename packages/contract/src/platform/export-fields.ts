// The columns of exported files, in the order of the files.

/** The columns of an export whose request names none. */
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

/** Columns that an export contains only when its request names them. */
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
