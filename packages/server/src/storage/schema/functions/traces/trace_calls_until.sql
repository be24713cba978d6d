-- The latest start of a nested call: the end of the outer call, at most a day after its start, plus a tolerance for differing clocks.
create or replace function trace_calls_until(p_start timestamptz, p_end timestamptz) returns timestamptz language sql stable as $$
  select least(greatest(p_end, p_start), p_start + interval '24 hours') + interval '5 minutes'
$$;
