-- Locks the partition runs that have not ended, in the order of ids. The caller has locked the export.
create or replace function lock_export_runs(p_tenant uuid, p_export uuid) returns void language sql as $$
  select from export_runs r where r.tenant_id = p_tenant and r.export_id = p_export and r.status in ('CREATED', 'RUNNING')
  order by r.id for update
$$;
