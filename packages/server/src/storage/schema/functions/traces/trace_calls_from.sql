-- When a run that another has called can have started: while that ran, give or take what clocks differ by, and within a day.
create or replace function trace_calls_from(p_start timestamptz) returns timestamptz language sql stable as $$
  select p_start - interval '5 minutes'
$$;
