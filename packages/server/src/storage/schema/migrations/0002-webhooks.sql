-- formerly sha256:e980ad041e358ab720d0f3e0d36c0ae9be8fc4f6bc3d79341125611c0a2fd9c0
-- Webhooks: what is to be told about the end of a run, kept until it was told.
--
--   pending ──claim──▶ pending, leased ──▶ delivered
--      ▲                     │        ──▶ failed      refused for good, or its attempts are used up
--      └── not_before ◀──────┘ failed for now, or the lease ended

create table webhook_deliveries (
  delivery_id uuid        primary key default gen_random_uuid(),
  run_id      uuid        not null,
  thread_id   uuid        not null,
  url         text        not null,
  -- Who is called: one that does not answer shall not take every slot.
  origin      text        not null generated always as (coalesce(substring(url from '^[^/]*//[^/?#]*'), '')) stored,
  status      text        not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempt     integer     not null default 0,
  lease_token bigint      not null default 0,
  lease_until timestamptz,
  not_before  timestamptz not null default now(),
  -- The run as it ended and its final values, as JSON text.
  run         text        not null,
  values      text,
  -- Of the run: whose the delivery is when there is no thread to say so.
  metadata    jsonb       not null default '{}',
  error       text,
  -- The last attempts: [{at, status | error, ms}].
  log         jsonb       not null default '[]',
  created_at  timestamptz not null default now(),
  ended_at    timestamptz
);
-- A run ends once, and is told of once.
create unique index webhook_deliveries_run on webhook_deliveries (run_id);
create index webhook_deliveries_thread on webhook_deliveries (thread_id);
create index webhook_deliveries_due on webhook_deliveries (not_before) where status = 'pending';
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
