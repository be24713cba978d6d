-- The hours in which calls nested in a trace run with these times can start; none without a start.
create or replace function trace_hours_called(p_start timestamptz, p_end timestamptz) returns setof timestamptz language sql stable as $$
  select generate_series(trace_hour_of(trace_calls_from(p_start)), trace_hour_of(trace_calls_until(p_start, p_end)), interval '1 hour')
$$;
