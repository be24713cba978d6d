-- Sets the workspace of the current transaction for row level security.
create or replace function enter_tenant(p_tenant uuid) returns void language plpgsql as $$
begin
  perform set_config('svc.tenant', p_tenant::text, true);
  if exists (select from pg_roles where rolname = 'svc_tenant' and pg_has_role(oid, 'member')) then
    set local role svc_tenant;
  end if;
end $$;
