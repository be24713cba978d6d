-- Sets the workspace of the current transaction for row level security. The role belongs to all databases of the server: where the tables have
-- no row level security, it has no rights on them.
create or replace function enter_tenant(p_tenant uuid) returns void language plpgsql as $$
begin
  perform set_config('svc.tenant', p_tenant::text, true);
  if exists (select from pg_roles where rolname = 'svc_tenant' and pg_has_role(oid, 'member'))
    and (select relrowsecurity from pg_class where oid = 'trace_runs'::regclass) then
    set local role svc_tenant;
  end if;
end $$;
