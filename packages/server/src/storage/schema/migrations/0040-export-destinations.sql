-- Where exports go.
create table export_destinations (
  tenant_id        uuid        not null references workspaces on delete cascade,
  id               uuid        not null,
  destination_type text        not null check (destination_type in ('s3', 'file')),
  display_name     text        not null,
  -- JSON text of what was given, without secrets.
  config           text        not null,
  -- JSON of them, sealed and bound to this destination. Null: those of the server, or none are needed.
  credentials      text,
  credentials_keys text[]      not null default '{}',
  -- In place of credentials.
  aws_role_arn     text,
  -- What the last probe found that the bucket lets us do: {can_head, can_delete, can_put_if_none_match}.
  abilities        jsonb       not null default '{}',
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index export_destinations_created on export_destinations (tenant_id, created_at, id);

do $$ begin
  grant select, insert, update, delete on export_destinations to svc_tenant;
  alter table export_destinations enable row level security;
  create policy tenant on export_destinations to svc_tenant
    using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid);
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
