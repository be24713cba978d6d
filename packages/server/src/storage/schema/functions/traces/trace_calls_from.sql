-- The earliest start of a nested call: the start of the outer call, minus a tolerance for differing clocks. See trace_calls_until().
create or replace function trace_calls_from(p_start timestamptz) returns timestamptz language sql stable as $$
  select p_start - interval '5 minutes'
$$;
