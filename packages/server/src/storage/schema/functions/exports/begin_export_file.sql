-- Records the file that is about to be uploaded. Requires a valid lease. False when the lease is invalid or the partition run has ended.
create or replace function begin_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_pending jsonb) returns boolean language plpgsql as $$
begin
  update export_runs r set pending_upload = p_pending, heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
    -- A file that was begun must be finished first, with the rows up to its cursor.
    and (r.pending_upload is null or r.pending_upload ->> 'target_cursor' = p_pending ->> 'target_cursor');
  return found;
end $$;
