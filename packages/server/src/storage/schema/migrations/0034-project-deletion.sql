-- formerly sha256:8b9e99e4c3a0787eb2c8de430e20a2c21e8e57ffc440160aa8e076e6fc481907
-- Projects that were deleted, while runs of theirs may still be there or come: a node may have known the project for a moment longer.
create table trace_deletions (
  tenant_id  uuid        not null references workspaces on delete cascade,
  session_id uuid        not null,
  deleted_at timestamptz not null default now(),
  primary key (tenant_id, session_id)
);

-- Who makes a project looks whether its id is one of these: its runs would be swept with the old ones.
do $$ begin
  grant select on trace_deletions to svc_tenant;
  alter table trace_deletions enable row level security;
  create policy tenant on trace_deletions to svc_tenant using (tenant_id = (select current_setting('svc.tenant')::uuid));
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
