-- Records that the file that was begun is uploaded. Requires a valid lease. Idempotent: true also when it was recorded before.
create or replace function commit_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_key text) returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
  v_file record;
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for key share;
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
  for update;
  if not found then return false; end if;
  if v_run.pending_upload is null or v_run.pending_upload ->> 'key' <> p_key then
    return exists (select from export_files f where f.tenant_id = p_tenant and f.run_id = p_run and f.key = p_key);
  end if;
  select * into v_file from jsonb_to_record(v_run.pending_upload) as p (
    target_cursor text, key text, rows bigint, bytes bigint, raw_bytes bigint, sha256 text, min_start_time timestamptz, max_start_time timestamptz);
  insert into export_files (tenant_id, run_id, number, export_id, key, rows, bytes, raw_bytes, sha256, min_start_time, max_start_time)
  select p_tenant, p_run, (select count(*) from export_files f where f.tenant_id = p_tenant and f.run_id = p_run), v_run.export_id,
    v_file.key, v_file.rows, v_file.bytes, v_file.raw_bytes, v_file.sha256, v_file.min_start_time, v_file.max_start_time;
  update export_runs r
  set cursor = v_file.target_cursor, pending_upload = null, reclaims = 0, heartbeat_at = now(), updated_at = now(),
      rows_written = r.rows_written + v_file.rows, bytes_written = r.bytes_written + v_file.bytes,
      raw_bytes = r.raw_bytes + v_file.raw_bytes, attempt_rows = r.attempt_rows + v_file.rows
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'file_written', p_run,
    format('Wrote %s: %s rows, %s bytes', v_file.key, v_file.rows, v_file.bytes));
  return true;
end $$;
