// The fields of a trace run that several trace writes may set. Each has a bit in `patched`, which is set when a PATCH has set the field.
// trace_bit() has the same list.

const names = [
  'session_id',
  'trace_id',
  'parent_run_id',
  'name',
  'run_type',
  'dotted_order',
  'start_time',
  'end_time',
  'error',
  'inputs',
  'outputs',
  'events',
  'serialized',
  'extra',
  'tags',
  'reference_example_id',
  null, // not used
  'first_token_time',
  'model',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
  'usage_details',
  'metadata',
  'sent_start',
  'priced',
] as const;

/** Names that are no fields: two columns that are merged by their own rules, and two marks. */
const others = ['start_time', 'metadata', 'sent_start', 'priced'] as const;

type TraceBit = Exclude<(typeof names)[number], null>;
export type TraceField = Exclude<TraceBit, (typeof others)[number]>;

export const traceFields = Object.fromEntries(
  names.flatMap((name, place) => (name === null ? [] : [[name, 1 << place]])),
) as Record<TraceBit, number>;

/** `sentStartBit`: the start time was sent, and not derived from the dotted order. `pricedBit`: the server has computed the costs. */
export const {
  start_time: startTimeBit,
  metadata: metadataBit,
  sent_start: sentStartBit,
  priced: pricedBit,
} = traceFields;

export const traceFieldNames = names.filter(
  (name): name is TraceField => name !== null && !(others as readonly string[]).includes(name),
);
