// The columns that an export can have. The type of the contract makes this list complete; its values would bring the parser with them.
import type { NewExport } from '@svc/sdk';

export type Column = NonNullable<NewExport['export_fields']>[number];

/** True for the columns of an export that names none. */
const isUsual: Record<Column, boolean> = {
  id: true,
  tenant_id: true,
  session_id: true,
  trace_id: true,
  parent_run_id: true,
  parent_run_ids: true,
  reference_example_id: true,
  name: true,
  run_type: true,
  start_time: true,
  end_time: true,
  status: true,
  is_root: true,
  dotted_order: true,
  trace_tier: true,
  inputs: true,
  outputs: true,
  error: true,
  extra: true,
  events: true,
  tags: true,
  feedback_stats: true,
  total_tokens: true,
  prompt_tokens: true,
  completion_tokens: true,
  total_cost: true,
  prompt_cost: true,
  completion_cost: true,
  first_token_time: true,
  thread_id: false,
  latency_ms: false,
  metadata: false,
  session_name: false,
  prompt_token_details: false,
  completion_token_details: false,
  inserted_at: false,
  updated_at: false,
};

export const columns = Object.keys(isUsual) as Column[];

export const usualColumns: readonly Column[] = columns.filter((column) => isUsual[column]);
