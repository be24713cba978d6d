-- Deletes a project; sweep_projects() deletes its trace runs. Returns whether it existed.
create or replace function delete_project(p_tenant uuid, p_id uuid) returns boolean language plpgsql as $$
begin
  delete from projects where tenant_id = p_tenant and id = p_id;
  if not found then return false; end if;
  insert into trace_deletions (tenant_id, session_id) values (p_tenant, p_id) on conflict do nothing;
  return true;
end $$;
