-- Ends an export, with its partition runs and without a retry, when p_timeout has passed since its start. Returns whether it has ended it.
create or replace function time_out_export(p_tenant uuid, p_export uuid, p_timeout interval) returns boolean language plpgsql as $$
begin
  perform from exports e where e.tenant_id = p_tenant and e.id = p_export and e.status = 'RUNNING' and e.started_at <= now() - p_timeout
  for no key update;
  if not found then return false; end if;
  perform end_export(p_tenant, p_export, 'TIMEDOUT', 'timeout', format('The export exceeded its time limit (SVC_EXPORT_TIMEOUT is %s seconds)', extract(epoch from p_timeout)::float8));
  return true;
end $$;
