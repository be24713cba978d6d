-- Makes a partition run claimable again without counting a retry: its worker was lost (p_lost: only if the lease has ended), or releases
-- it. When that happens five times in a row without a committed file, the partition run itself is the likely cause, so it counts as a
-- failed attempt. Returns whether the lease was the caller's.
create or replace function requeue_export_run(p_tenant uuid, p_run uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval)
returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  -- The fifth time may end the whole export, so all partition runs are locked, in the order of ids.
  perform lock_export_runs(p_tenant, r.export_id) from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.reclaims >= 4;
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING'
    and (not p_lost or r.lease_until <= clock_timestamp()) for update;
  if not found then return false; end if;
  if v_run.reclaims >= 4 then
    perform fail_export_attempt(p_tenant, p_run, p_token, 'error',
      format('It was given up 5 times in a row before it could write a file. The last reason: %s', p_reason), p_retries, p_delay);
    return true;
  end if;
  update export_runs r set status = 'CREATED', reclaims = r.reclaims + 1, lease_until = null, not_before = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'requeued', p_run, p_reason);
  perform pg_notify('svc', 'x:' || v_run.export_id);
  return true;
end $$;
