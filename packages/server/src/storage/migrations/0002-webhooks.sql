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

-- To be called in the transaction in which a run ends, after its row says so, and before a row that goes has gone;
-- for one that goes without having said so, status and error are given. Nothing happens when the run has no webhook.
create function queue_webhook(p_run_id uuid, p_values text, p_status text default null, p_error text default null)
returns void
language sql as $$
  select pg_notify('svc', 'w');
  insert into webhook_deliveries (run_id, thread_id, url, metadata, run, values)
  select r.run_id, r.thread_id, r.webhook, r.metadata, json_build_object(
      'run_id', r.run_id,
      'thread_id', r.thread_id,
      'assistant_id', r.assistant_id,
      'created_at', to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'updated_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'status', coalesce(p_status, r.status),
      'metadata', r.metadata,
      'multitask_strategy', r.multitask_strategy,
      'kwargs', r.kwargs::json,
      'attempt', r.attempt,
      'error', coalesce(p_error, r.error)::json,
      'run_started_at', to_char(coalesce(r.started_at, r.created_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'run_ended_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text, p_values
  from runs r
  where r.run_id = p_run_id and r.webhook is not null
  on conflict (run_id) do nothing
$$;

-- Takes up to p_count deliveries that are due, except to origins in p_busy.
create function claim_webhooks(p_count integer, p_lease interval, p_busy text[]) returns setof webhook_deliveries
language sql as $$
  with due as (
    select w.delivery_id from webhook_deliveries w
    where w.status = 'pending' and w.not_before <= now() and (w.lease_until is null or w.lease_until < now())
      and w.origin <> all (p_busy)
    order by w.not_before limit p_count for update skip locked
  )
  update webhook_deliveries d
  set attempt = d.attempt + 1, lease_token = d.lease_token + 1, lease_until = now() + p_lease
  from due
  where d.delivery_id = due.delivery_id
  returning d.*
$$;

-- Removes deliveries that ended longer ago than p_before; returns how many, p_limit when there may be more.
create function delete_ended_deliveries(p_before interval, p_limit integer) returns integer
language sql as $$
  with old as (
    select w.delivery_id from webhook_deliveries w where w.ended_at < now() - p_before
    order by w.ended_at limit p_limit for update skip locked
  ), gone as (
    delete from webhook_deliveries d using old where d.delivery_id = old.delivery_id returning 1
  )
  select count(*)::integer from gone
$$;
