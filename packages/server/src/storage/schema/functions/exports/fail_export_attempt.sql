-- Records that an attempt of a partition run has failed. p_cause: 'error', 'timeout' (its time limit), or 'destination' (a retry would
-- fail too). Requires the newest lease token, though the lease may have ended: no other worker has the partition run while it is RUNNING
-- with this token. Returns the new status; null when the caller is not the holder.
create or replace function fail_export_attempt(p_tenant uuid, p_run uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval)
returns text language plpgsql as $$
declare
  v_run export_runs%rowtype;
  v_message text := left(p_message, 2048);
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  -- Not locked yet: its state cannot change while the export is locked, and lock_export_runs() locks in the order of ids.
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING';
  if not found then return null; end if;
  v_run.errors := v_run.errors || jsonb_build_object('retry_' || v_run.retry_number, v_message);
  if p_cause <> 'destination' and v_run.retry_number < p_retries then
    update export_runs r
    set status = 'CREATED', errors = v_run.errors, retry_number = r.retry_number + 1, reclaims = 0, lease_until = null,
        not_before = clock_timestamp() + p_delay, updated_at = now()
    where r.tenant_id = p_tenant and r.id = p_run;
    perform add_export_event(p_tenant, v_run.export_id, 'retry', p_run, format('Attempt %s failed: %s', v_run.retry_number + 1, v_message));
    perform pg_notify('svc', 'x:' || v_run.export_id);
    return 'CREATED';
  end if;
  perform lock_export_runs(p_tenant, v_run.export_id);
  v_run.status := case p_cause when 'timeout' then 'TIMEDOUT' else 'FAILED' end;
  update export_runs r
  set status = v_run.status, errors = v_run.errors, lease_until = null, finished_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'run_failed', p_run, v_message);
  perform end_export(p_tenant, v_run.export_id, 'FAILED', p_cause,
    left(format('The export run of %s failed: %s', export_span(v_run.window_start, v_run.window_end), v_message), 2048));
  return v_run.status;
end $$;
