-- Drops the partitions of a day, and marks the hours whose trace runs are gone as changed. The rows in trace_run_days are deleted separately,
-- in batches. The partitions are detached before (trace-partitions.ts), so this waits for nobody. If it has to wait nevertheless, the lock
-- timeout ends it soon, so that no statement waits behind it for long, and it is repeated.
create or replace function drop_trace_day(p_day date) returns void language plpgsql set lock_timeout = '500ms' as $$
begin
  perform pg_advisory_xact_lock(7301955202);
  -- Also hours of the next day: a nested model call may have started after midnight.
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select tenant_id, session_id, hour from trace_hours
  where hour >= p_day::timestamp at time zone 'utc' and hour < (p_day + 2)::timestamp at time zone 'utc';
  execute format('drop table if exists %I', 'trace_runs' || to_char(p_day, '_YYYYMMDD'));
  execute format('drop table if exists %I', 'trace_attachments' || to_char(p_day, '_YYYYMMDD'));
  delete from trace_days where day = p_day;
end $$;
