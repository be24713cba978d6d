-- Completes an export whose manifest is uploaded. Requires a valid lease. Idempotent: true also when it was completed before.
create or replace function complete_export(p_tenant uuid, p_export uuid, p_token bigint, p_manifest text) returns boolean language plpgsql as $$
declare
  v_export exports%rowtype;
begin
  update exports e
  set status = 'COMPLETED', manifest = p_manifest, lease_until = null, finished_at = e.completing_at, updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until > clock_timestamp()
  returning * into v_export;
  if not found then
    return exists (select from exports e where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'COMPLETED');
  end if;
  perform add_export_event(p_tenant, p_export, 'completed', null, 'Completed');
  update exports s set failures = 0 where s.tenant_id = p_tenant and s.id = v_export.source_export_id and s.failures > 0;
  perform pg_notify('svc', 'x:' || p_export);
  return true;
end $$;
