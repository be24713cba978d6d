-- The exporter of a claimed run begins to work: the time of the attempt counts from here, so that the start of the process is not part of it.
-- Under the token; may be called again. False when the run is somebody else's.
create or replace function start_export_run(p_tenant uuid, p_run uuid, p_token bigint) returns boolean language plpgsql as $$
begin
  update export_runs r set attempt_at = coalesce(r.attempt_at, now())
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING';
  return found;
end $$;
