-- Links that let a browser give feedback on one trace run without a key.
create table feedback_tokens (
  -- The secret of the link.
  id         uuid        primary key,
  tenant_id  uuid        not null references workspaces on delete cascade,
  run_id     uuid        not null,
  key        text        not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index feedback_tokens_run on feedback_tokens (tenant_id, run_id, created_at, id);
create index feedback_tokens_expiry on feedback_tokens (tenant_id, expires_at);

do $$ begin
  grant select, insert, delete on feedback_tokens to svc_tenant;
  alter table feedback_tokens enable row level security;
  create policy tenant on feedback_tokens to svc_tenant
    using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid);
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
