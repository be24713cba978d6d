-- Says what is about to be uploaded, before it is. Only under the lease. False: it is somebody else's, or over.
create or replace function begin_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_pending jsonb) returns boolean language plpgsql as $$
begin
  update export_runs r set pending_upload = p_pending, heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
    -- What was begun is finished before anything else is: its rows are those up to its cursor.
    and (r.pending_upload is null or r.pending_upload ->> 'target_cursor' = p_pending ->> 'target_cursor');
  return found;
end $$;
