-- formerly sha256:526fb47647d3fa87defc7882111c3f1a5ec63b2b27967ae95e5dc08e23a8937e
-- The second net: who asks as this role sees and writes rows of one workspace. Where the role cannot be made (it takes the
-- right to create roles), the statements alone keep workspaces apart.
do $$
declare
  v_table text;
begin
  begin
    create role svc_tenant nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  execute format('grant svc_tenant to %I', current_user);
  grant usage on schema svc to svc_tenant;
  grant select on trace_days to svc_tenant;
  foreach v_table in array array['projects', 'trace_run_days', 'trace_runs', 'trace_attachments', 'trace_orphans'] loop
    execute format('grant select, insert, update on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
  grant delete on trace_orphans to svc_tenant;
exception when insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;

-- The runs of the workspace, for those who search. Under a policy PostgreSQL uses no index whose operator might tell something
-- of a row to who may not see it, those on labels among them; of a view that is no barrier it may use all. Whoever writes
-- the statement is trusted not to look for such ways: what this is for is a condition that was forgotten.
create view tenant_runs as
  select * from trace_runs where tenant_id = (select current_setting('svc.tenant')::uuid);
do $$ begin
  grant select on tenant_runs to svc_tenant;
exception when undefined_object or insufficient_privilege then null;
end $$;
