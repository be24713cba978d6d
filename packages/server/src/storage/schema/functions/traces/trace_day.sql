-- The day's partition for a start time; '-infinity' (the partition of out-of-range starts) when the day is too old or in the future.
create or replace function trace_day(p_start timestamptz, p_days_kept integer) returns date language sql stable as $$
  select case when p_start >= date_trunc('day', now() at time zone 'utc') at time zone 'utc' - p_days_kept * interval '1 day'
    and p_start < date_trunc('day', now() at time zone 'utc') at time zone 'utc' + interval '2 days'
    then (p_start at time zone 'utc')::date else date '-infinity' end
$$;
