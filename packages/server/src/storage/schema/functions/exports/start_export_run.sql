-- Starts the time of an attempt when the exporter of a claimed partition run begins its work, so that the start of the process is not
-- included. Requires the newest lease token. Idempotent. False when another worker has claimed the partition run.
create or replace function start_export_run(p_tenant uuid, p_run uuid, p_token bigint) returns boolean language plpgsql as $$
begin
  update export_runs r set attempt_at = coalesce(r.attempt_at, now())
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING';
  return found;
end $$;
