-- Sessions of the console: a browser's cookie stands for the credential that its user entered.
create table console_sessions (
  -- SHA-256 of the cookie, which is stored nowhere.
  hash       bytea       primary key,
  -- How the servers authenticate that created it: a server accepts no session of a server that authenticates otherwise.
  mode       text        not null check (mode in ('custom', 'keys', 'anonymous')),
  -- SHA-256 of the user or key that signed in; for ending all of its sessions.
  owner      bytea       not null,
  -- The credentials, encrypted.
  sealed     text        not null,
  -- Accurate to a minute; a session ends some time after its last request.
  seen_at    timestamptz not null default now(),
  expires_at timestamptz not null
);
create index console_sessions_owner on console_sessions (owner, seen_at);
create index console_sessions_expiry on console_sessions (expires_at);
create index console_sessions_seen on console_sessions (seen_at);
