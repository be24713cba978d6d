-- The same as fail_export_attempt() for the manifest of an export whose partition runs are completed.
create or replace function fail_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval)
returns text language plpgsql as $$
declare
  v_export exports%rowtype;
  v_message text := left(format('The manifest was not written: %s', p_message), 2048);
begin
  select * into v_export from exports e
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until is not null
  for no key update;
  if not found then return null; end if;
  if p_cause = 'destination' or v_export.retry_number >= p_retries then
    perform end_export(p_tenant, p_export, 'FAILED', p_cause, v_message);
    return 'FAILED';
  end if;
  update exports e
  set retry_number = e.retry_number + 1, reclaims = 0, lease_until = null, not_before = clock_timestamp() + p_delay, updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export;
  perform add_export_event(p_tenant, p_export, 'retry', null, v_message);
  return 'RUNNING';
end $$;
