-- Deletes at most p_limit trace runs of deleted projects, with their dependent rows; of p_tenant, or (null) of all workspaces. Returns how many.
create or replace function sweep_projects(p_tenant uuid, p_limit integer) returns integer language plpgsql as $$
declare
  v_count integer;
begin
  with gone as (
    select r.tenant_id, r.id, r.day from trace_deletions d
    cross join lateral (
      select r.tenant_id, r.id, r.day from trace_runs r
      where r.tenant_id = d.tenant_id and r.session_id = d.session_id limit p_limit
    ) r
    where p_tenant is null or d.tenant_id = p_tenant limit p_limit
  ), files as (
    delete from trace_attachments a using gone where a.tenant_id = gone.tenant_id and a.run_id = gone.id and a.day = gone.day
  ), feedback_gone as (
    delete from feedback f using gone where f.tenant_id = gone.tenant_id and f.run_id = gone.id
  ), orphans as (
    delete from trace_orphans o using gone where o.tenant_id = gone.tenant_id and o.id = gone.id
  ), days as (
    delete from trace_run_days d using gone where d.tenant_id = gone.tenant_id and d.id = gone.id
  )
  delete from trace_runs r using gone where r.tenant_id = gone.tenant_id and r.id = gone.id and r.day = gone.day;
  get diagnostics v_count = row_count;
  delete from trace_hours h using trace_deletions d
  where (p_tenant is null or d.tenant_id = p_tenant) and h.tenant_id = d.tenant_id and h.session_id = d.session_id;
  if v_count = 0 and p_tenant is null then
    delete from trace_deletions where deleted_at < now() - interval '1 hour';
  end if;
  return v_count;
end $$;
