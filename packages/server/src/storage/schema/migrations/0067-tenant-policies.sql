-- Creates the policies of traces that migration 0022 has skipped: an administrator had created the role svc_tenant, and the database user had
-- no right to create roles. PostgreSQL checks this right before it checks whether the role exists, so `create role` failed in 0022. Later
-- migrations found the role and created their policies. If trace_hours has none (0023), the role did not exist at that time: then later tables may lack
-- theirs too, and this migration adds none.
do $$
declare
  v_table text;
begin
  if not exists (select from pg_roles where rolname = 'svc_tenant')
    or not (select relrowsecurity from pg_class where oid = 'trace_hours'::regclass)
    or (select relrowsecurity from pg_class where oid = 'trace_runs'::regclass) then
    return;
  end if;
  grant usage on schema svc to svc_tenant;
  grant select on trace_days, tenant_runs to svc_tenant;
  foreach v_table in array array['projects', 'trace_run_days', 'trace_runs', 'trace_attachments', 'trace_orphans'] loop
    execute format('grant select, insert, update on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
  grant delete on trace_orphans to svc_tenant;
end $$;
