-- The same as requeue_export_run() for the manifest of an export.
create or replace function requeue_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval)
returns boolean language plpgsql as $$
declare
  v_export exports%rowtype;
begin
  select * into v_export from exports e
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until is not null
    and (not p_lost or e.lease_until <= clock_timestamp()) for no key update;
  if not found then return false; end if;
  if v_export.reclaims >= 4 then
    perform fail_export_manifest(p_tenant, p_export, p_token, 'error', p_reason, p_retries, p_delay);
    return true;
  end if;
  update exports e set lease_until = null, reclaims = e.reclaims + 1, not_before = now(), updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export;
  perform add_export_event(p_tenant, p_export, 'requeued', null, p_reason);
  perform pg_notify('svc', 'x:' || p_export);
  return true;
end $$;
