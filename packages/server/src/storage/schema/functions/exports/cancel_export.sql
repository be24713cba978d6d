-- For good, with all of its runs that have not ended. Returns the status before; null when there is no such export.
-- The exports of a schedule go on: they are exports of their own.
create or replace function cancel_export(p_tenant uuid, p_export uuid) returns text language plpgsql as $$
declare
  v_status text;
begin
  select e.status into v_status from exports e where e.tenant_id = p_tenant and e.id = p_export for update;
  if v_status is null or v_status in ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT') then return v_status; end if;
  update exports e set status = 'CANCELLED', next_window = null, updated_at = now(), finished_at = now()
    where e.tenant_id = p_tenant and e.id = p_export;
  perform lock_export_runs(p_tenant, p_export);
  update export_runs r set status = 'CANCELLED', lease_until = null, updated_at = now(), finished_at = now()
    where r.tenant_id = p_tenant and r.export_id = p_export and r.status in ('CREATED', 'RUNNING');
  perform add_export_event(p_tenant, p_export, 'cancelled', null, 'Cancelled by request');
  -- Who executes its runs stops, and others have room.
  perform pg_notify('svc', 'x:' || p_export);
  return v_status;
end $$;
