-- Which row of trace_runs is meant.
create type run_ref as (id uuid, day date);

-- With what sums are made of: they read the index, and none of the payloads.
drop index trace_runs_session;
create index trace_runs_session on trace_runs (tenant_id, session_id, start_time, id) include (
  day, trace_id, parent_run_id, run_type, status, end_time, first_token_time,
  prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost);
