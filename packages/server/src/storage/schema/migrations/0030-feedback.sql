-- formerly sha256:9efb7fa490667ced7549e0f7bbb24b73f6de57fead6b39919b15318c748684dc
-- What people and programs think of runs. It may come before the run does.
create table feedback (
  tenant_id       uuid        not null references workspaces on delete cascade,
  id              uuid        not null,
  run_id          uuid        not null,
  trace_id        uuid,
  -- The project.
  session_id      uuid,
  key             text        not null,
  score           numeric,
  -- JSON values.
  value           jsonb,
  correction      jsonb,
  comment         text,
  feedback_source jsonb       not null,
  created_at      timestamptz not null default now(),
  modified_at     timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index feedback_run on feedback (tenant_id, run_id, key);
create index feedback_created on feedback (tenant_id, created_at, id);

do $$ begin
  grant select, insert, update on feedback to svc_tenant;
  alter table feedback enable row level security;
  create policy tenant on feedback to svc_tenant
    using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid);
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
