-- Where a run that starts then is kept: not every odd time gets a partition of its own.
create or replace function trace_day(p_start timestamptz, p_days_kept integer) returns date language sql stable as $$
  select case when p_start >= date_trunc('day', now() at time zone 'utc') at time zone 'utc' - p_days_kept * interval '1 day'
    and p_start < date_trunc('day', now() at time zone 'utc') at time zone 'utc' + interval '2 days'
    then (p_start at time zone 'utc')::date else date '-infinity' end
$$;
