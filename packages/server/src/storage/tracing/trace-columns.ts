// The fields of a trace run that several trace writes may set, in the order of ingest_runs(). Each has a bit in `patched`, which is set
// when a PATCH has set the field. trace_merge() and ingest_runs() use the same bits.

export const traceFields = {
  session_id: 1,
  trace_id: 1 << 1,
  parent_run_id: 1 << 2,
  name: 1 << 3,
  run_type: 1 << 4,
  dotted_order: 1 << 5,
  end_time: 1 << 7,
  error: 1 << 8,
  inputs: 1 << 9,
  outputs: 1 << 10,
  events: 1 << 11,
  serialized: 1 << 12,
  extra: 1 << 13,
  tags: 1 << 14,
  reference_example_id: 1 << 15,
  prompt_tokens: 1 << 19,
  completion_tokens: 1 << 20,
  total_tokens: 1 << 21,
  prompt_cost: 1 << 22,
  completion_cost: 1 << 23,
  total_cost: 1 << 24,
  usage_details: 1 << 25,
  first_token_time: 1 << 17,
  model: 1 << 18,
} as const;

export const startTimeBit = 1 << 6;
export const metadataBit = 1 << 26;
/** Not a field: the start time was sent, and not derived from the dotted order. */
export const sentStartBit = 1 << 27;
/** Not a field: the costs were computed by the server. */
export const pricedBit = 1 << 28;

export type TraceField = keyof typeof traceFields;

export const traceFieldNames = Object.keys(traceFields) as TraceField[];
