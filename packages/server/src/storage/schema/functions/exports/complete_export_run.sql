-- Completes a partition run whose files are all committed. Requires a valid lease. Idempotent: true also when it was completed before.
-- The last partition run of an export makes its manifest due.
create or replace function complete_export_run(p_tenant uuid, p_run uuid, p_token bigint) returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
begin
  -- The lock serializes the completions of an export, so that the last two do not both see another unfinished partition run.
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  update export_runs r set status = 'COMPLETED', lease_until = null, finished_at = now(), heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING'
    and r.lease_until > clock_timestamp() and r.pending_upload is null
  returning * into v_run;
  if not found then
    return exists (select from export_runs r where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'COMPLETED');
  end if;
  perform add_export_event(p_tenant, v_run.export_id, 'run_completed', p_run,
    format('Wrote %s rows of %s', v_run.rows_written, export_span(v_run.window_start, v_run.window_end)));
  if not exists (select from export_runs r where r.tenant_id = p_tenant and r.export_id = v_run.export_id and r.status <> 'COMPLETED') then
    update exports e set completing_at = now(), not_before = now(), updated_at = now()
    where e.tenant_id = p_tenant and e.id = v_run.export_id and e.status = 'RUNNING';
  end if;
  perform pg_notify('svc', 'x:' || v_run.export_id);
  return true;
end $$;
