-- Cancels an export with all of its partition runs that have not ended; it cannot be resumed. Returns the previous status; null when
-- there is no such export. Cancelling a schedule does not cancel the exports that it has created.
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
  -- Notifies the workers that execute its partition runs, and those that wait for a slot.
  perform pg_notify('svc', 'x:' || p_export);
  return v_status;
end $$;
