-- Who may use the platform API: workspaces, and the keys that are bound to them.
create table workspaces (
  id           uuid primary key,
  display_name text        not null check (display_name <> ''),
  created_at   timestamptz not null default now()
);
create index workspaces_created on workspaces (created_at, id);

create table api_keys (
  id           uuid primary key,
  -- SHA-256 of the key: 32 random bytes need no slower hash. The key itself is shown once, and kept nowhere.
  key_hash     bytea       not null unique check (length(key_hash) = 32),
  -- How people tell keys apart: its beginning and its end.
  short_key    text        not null,
  description  text        not null default '',
  role         text        not null check (role in ('admin', 'editor', 'viewer', 'ingest')),
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  -- Within a minute.
  last_used_at timestamptz,
  revoked_at   timestamptz
);
create index api_keys_created on api_keys (created_at, id);

create table api_key_workspaces (
  key_id    uuid not null references api_keys on delete cascade,
  tenant_id uuid not null references workspaces on delete cascade,
  primary key (key_id, tenant_id)
);
create index api_key_workspaces_tenant on api_key_workspaces (tenant_id, key_id);

-- Where traces go. On the wire a project is a session.
create table projects (
  tenant_id   uuid        not null references workspaces on delete cascade,
  id          uuid        not null,
  name        text        not null check (name <> ''),
  description text,
  -- JSON text.
  extra       text,
  start_time  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index projects_name on projects (tenant_id, md5(name));
create index projects_started on projects (tenant_id, start_time, id);
