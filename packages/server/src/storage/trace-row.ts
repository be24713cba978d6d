/** A run as it is stored. Texts are in their exact form, payloads JSON text, times ISO 8601 with microseconds. */
export interface TraceRow {
  id: string;
  session_id: string | null;
  trace_id: string | null;
  parent_run_id: string | null;
  name: string | null;
  run_type: string | null;
  dotted_order: string | null;
  start_time: string | null;
  end_time: string | null;
  first_token_time: string | null;
  status: 'pending' | 'success' | 'error';
  error: string | null;
  inputs: string | null;
  outputs: string | null;
  events: string | null;
  serialized: string | null;
  /** JSON text, without metadata; that is JSON text of its own. */
  extra: string | null;
  metadata: string;
  tags: string[] | null;
  thread_id: string | null;
  reference_example_id: string | null;
  model: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  /** Decimals. */
  prompt_cost: string | null;
  completion_cost: string | null;
  total_cost: string | null;
  usage_details: Record<string, unknown> | null;
}

/** JavaScript's dates have no microseconds, so these leave PostgreSQL as text. */
const micros = (column: string): string =>
  `to_char(r.${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${column}`;

export const traceColumns = `r.id, r.session_id, r.trace_id, r.parent_run_id, r.name, r.run_type, r.dotted_order,
  ${micros('start_time')}, ${micros('end_time')}, ${micros('first_token_time')}, r.status, r.error, r.inputs, r.outputs, r.events,
  r.serialized, r.extra, r.metadata::text as metadata, r.tags, r.thread_id, r.reference_example_id, r.model, r.prompt_tokens,
  r.completion_tokens, r.total_tokens, r.prompt_cost, r.completion_cost, r.total_cost, r.usage_details`;
