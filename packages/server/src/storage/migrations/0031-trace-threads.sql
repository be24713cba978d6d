-- Which row of trace_runs is meant.
create type run_ref as (id uuid, day date);
