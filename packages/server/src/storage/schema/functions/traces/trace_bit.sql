-- The bit of a field in `patched` and `wins`, by the place of its name. `sent_start`: the start time was sent, and not derived from the dotted
-- order. `priced`: the server has computed the costs. Calls are constants of a plan. trace-columns.ts has the same list.
create or replace function trace_bit(p_field text) returns integer language sql immutable as $$
  select 1 << array_position(array['session_id', 'trace_id', 'parent_run_id', 'name', 'run_type', 'dotted_order', 'start_time', 'end_time',
    'error', 'inputs', 'outputs', 'events', 'serialized', 'extra', 'tags', 'reference_example_id', null, 'first_token_time', 'model',
    'prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost', 'usage_details', 'metadata',
    'sent_start', 'priced'], p_field) - 1
$$;
