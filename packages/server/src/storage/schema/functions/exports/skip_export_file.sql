-- Discards the file that was begun, up to p_target, because all of its rows have been deleted; nothing of it is uploaded. The cursor
-- advances past it. Requires a valid lease. Idempotent: true also when it was recorded before.
create or replace function skip_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_target text) returns boolean language plpgsql as $$
begin
  update export_runs r
  set cursor = p_target, pending_upload = null, heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
    and case when r.pending_upload is null then r.cursor else r.pending_upload ->> 'target_cursor' end = p_target;
  return found;
end $$;
