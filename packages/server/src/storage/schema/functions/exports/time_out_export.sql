-- An export that has taken longer than p_timeout since it started ends, with its runs, and is not tried again. Whether it did.
create or replace function time_out_export(p_tenant uuid, p_export uuid, p_timeout interval) returns boolean language plpgsql as $$
begin
  perform from exports e where e.tenant_id = p_tenant and e.id = p_export and e.status = 'RUNNING' and e.started_at <= now() - p_timeout
  for no key update;
  if not found then return false; end if;
  perform end_export(p_tenant, p_export, 'TIMEDOUT', 'timeout', format('The export took longer than it may (SVC_EXPORT_TIMEOUT is %s)', p_timeout));
  return true;
end $$;
