-- Tickets: credentials that open one WebSocket, within a minute.
create table tickets (
  -- SHA-256 of the ticket, which is stored nowhere.
  hash        bytea       primary key,
  -- How the servers authenticate that issued it: a server accepts no ticket of a server that authenticates otherwise.
  mode        text        not null check (mode in ('custom', 'keys', 'anonymous')),
  -- SHA-256 of what the limits of the caller are counted by; for the limit of tickets.
  caller      bytea       not null,
  -- What the limits of a caller without a user are counted by; null for clients on the machine of the server.
  counted_as  text,
  -- Encrypted; null without a user.
  sealed_user text,
  expires_at  timestamptz not null
);
create index tickets_caller on tickets (caller, expires_at);
create index tickets_expiry on tickets (expires_at);
