-- Drops the tables of a day, and notes the hours that have lost their runs; the rows in trace_run_days are deleted apart from it, in
-- batches. The partitions are detached before (trace-partitions.ts), so nobody has to be waited for. Nodes of the previous
-- release do not detach them: then it gives up soon, so that nobody waits behind it for long, and is tried again.
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
