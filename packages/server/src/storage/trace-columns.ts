// The fields of a run that may be written more than once, in the order of ingest_runs(), each with its bit there.

export const traceFields = {
  session_id: 1,
  trace_id: 2,
  parent_run_id: 4,
  name: 8,
  run_type: 16,
  dotted_order: 32,
  end_time: 128,
  error: 256,
  inputs: 512,
  outputs: 1_024,
  events: 2_048,
  serialized: 4_096,
  extra: 8_192,
  tags: 16_384,
  reference_example_id: 32_768,
  prompt_tokens: 65_536,
  completion_tokens: 65_536,
  total_tokens: 65_536,
  prompt_cost: 65_536,
  completion_cost: 65_536,
  total_cost: 65_536,
  usage_details: 65_536,
  first_token_time: 131_072,
  model: 262_144,
} as const;

export const startTimeBit = 64;

export type TraceField = keyof typeof traceFields;

export const traceFieldNames = Object.keys(traceFields) as TraceField[];
