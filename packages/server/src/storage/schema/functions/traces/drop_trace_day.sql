-- Lets a day go, with everything in it; its rows in trace_run_days are deleted apart from it, in batches. Who reads or writes
-- other days must not wait behind it for long: it gives up, and is tried again.
create or replace function drop_trace_day(p_day date) returns void language plpgsql set lock_timeout = '500ms' as $$
begin
  perform pg_advisory_xact_lock(7301955202);
  -- Of the day after, too: what a run calls may have started after midnight.
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select tenant_id, session_id, hour from trace_hours
  where hour >= p_day::timestamp at time zone 'utc' and hour < (p_day + 2)::timestamp at time zone 'utc';
  execute format('drop table if exists %I', 'trace_runs' || to_char(p_day, '_YYYYMMDD'));
  execute format('drop table if exists %I', 'trace_attachments' || to_char(p_day, '_YYYYMMDD'));
  delete from trace_days where day = p_day;
end $$;
