-- The start of the hour that contains a time.
create or replace function trace_hour_of(p_time timestamptz) returns timestamptz language sql immutable as $$
  select date_bin(interval '1 hour', p_time, timestamptz '2000-01-01 00:00:00+00')
$$;
