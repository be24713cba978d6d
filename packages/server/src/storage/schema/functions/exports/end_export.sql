-- Ends an export that the caller has locked, with its partition runs, which record p_message as the error of their current attempt.
-- With p_cause 'destination' the failure counts against the schedule of the export.
create or replace function end_export(p_tenant uuid, p_export uuid, p_status text, p_cause text, p_message text) returns void language plpgsql as $$
declare
  v_schedule exports%rowtype;
  v_source uuid;
begin
  perform lock_export_runs(p_tenant, p_export);
  update export_runs r
  set status = case p_status when 'TIMEDOUT' then 'TIMEDOUT' else 'CANCELLED' end,
      errors = r.errors || jsonb_build_object('retry_' || r.retry_number, left(p_message, 2048)), lease_until = null, finished_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.export_id = p_export and r.status in ('CREATED', 'RUNNING');
  update exports e set status = p_status, error = p_message, lease_until = null, finished_at = now(), updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export
  returning e.source_export_id into v_source;
  perform add_export_event(p_tenant, p_export, case p_status when 'TIMEDOUT' then 'timed_out' else 'failed' end, null, p_message);
  perform pg_notify('svc', 'x:' || p_export);
  if p_cause <> 'destination' or v_source is null then return; end if;

  -- After ten failures in a row the schedule is paused, because the destination is likely to refuse the next export too.
  update exports s set failures = s.failures + 1, updated_at = now()
  where s.tenant_id = p_tenant and s.id = v_source and s.status = 'INTERVALSCHEDULED'
  returning * into v_schedule;
  if v_schedule.failures >= 10 and v_schedule.next_window is not null then
    update exports s set next_window = null, error = left(format('Paused: %s exports in a row have failed. The last one: %s', v_schedule.failures, p_message), 2048)
    where s.tenant_id = p_tenant and s.id = v_source;
    perform add_export_event(p_tenant, v_source, 'paused', null, format('Paused: %s exports in a row have failed', v_schedule.failures));
  end if;
end $$;
