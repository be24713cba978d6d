-- Workspaces, API keys, tickets, sessions of the console, and the role of row level security.

-- Transactions that act for one workspace have this role: policies show them the rows of this workspace only. It is a second guard behind the
-- conditions of the statements. Without the right to create roles, it exists only if an administrator has created it before.
do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_tenant') then
    create role svc_tenant nologin;
  end if;
exception
  -- Migrations of two databases of one server may create it at the same time.
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then raise notice 'no role svc_tenant: row level security is off';
end $$;
do $$ begin
  execute format('grant svc_tenant to %I', current_user);
exception when undefined_object or insufficient_privilege then null;
end $$;
do $$ begin
  grant usage on schema svc to svc_tenant;
exception when undefined_object then null;
end $$;

create table workspaces (
  id           uuid primary key,
  display_name text        not null check (display_name <> ''),
  created_at   timestamptz not null default now()
);
create index workspaces_created on workspaces (created_at, id);

create table api_keys (
  id           uuid primary key,
  -- SHA-256 of the key: 32 random bytes need no slower hash. The key itself is displayed once, and not stored.
  key_hash     bytea       not null unique check (length(key_hash) = 32),
  -- Identifies the key to people, and is independent of its secret.
  short_key    text        not null,
  description  text        not null default '',
  role         text        not null check (role in ('admin', 'editor', 'viewer', 'ingest')),
  created_at   timestamptz not null default now(),
  expires_at   timestamptz,
  -- Accurate to a minute.
  last_used_at timestamptz,
  revoked_at   timestamptz,
  -- `current` is the key of SVC_BOOTSTRAP_API_KEY, `replaced` one that it had before and that is revoked. Null for all other keys.
  bootstrap    text check (bootstrap in ('current', 'replaced'))
);
create index api_keys_created on api_keys (created_at, id);
create index api_keys_bootstrap on api_keys (bootstrap) where bootstrap is not null;

create table api_key_workspaces (
  key_id    uuid not null references api_keys on delete cascade,
  tenant_id uuid not null references workspaces on delete cascade,
  primary key (key_id, tenant_id)
);
create index api_key_workspaces_tenant on api_key_workspaces (tenant_id, key_id);

-- The id of the key that encrypts secrets.
create table encryption_keys (
  only_row boolean primary key default true check (only_row),
  key_id   text    not null
);

-- Credentials that open one WebSocket, within a minute.
create table tickets (
  -- SHA-256 of the ticket, which is not stored.
  hash        bytea       primary key,
  -- The kind of authentication of the server that issued it: servers with another kind reject it.
  mode        text        not null check (mode in ('custom', 'keys', 'anonymous')),
  -- SHA-256 of the key by which the limits of the caller are counted; for the limit of tickets.
  caller      bytea       not null,
  -- The key by which the limits of a caller without a user are counted; null for clients on the machine of the server.
  counted_as  text,
  -- Encrypted; null without a user.
  sealed_user text,
  expires_at  timestamptz not null
);
create index tickets_caller on tickets (caller, expires_at);
create index tickets_expiry on tickets (expires_at);

-- Sessions of the console: a browser's cookie stands for the credential that its user entered.
create table console_sessions (
  -- SHA-256 of the cookie, which is not stored.
  hash       bytea       primary key,
  -- The kind of authentication of the server that created it: servers with another kind reject it.
  mode       text        not null check (mode in ('custom', 'keys', 'anonymous')),
  -- SHA-256 of the user or key that signed in; for ending all of its sessions.
  owner      bytea       not null,
  -- The credentials, encrypted.
  sealed     text        not null,
  -- Accurate to a minute; a session ends some time after its last request.
  seen_at    timestamptz not null default now(),
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  -- The User-Agent that signed in, cut: users recognize their sessions by it.
  browser    text check (length(browser) <= 512)
);
create index console_sessions_owner on console_sessions (owner, seen_at);
create index console_sessions_expiry on console_sessions (expires_at);
create index console_sessions_seen on console_sessions (seen_at);
