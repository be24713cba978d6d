-- Pending trace runs that this server's executors have sent. Ingest by API never writes here: metadata and ids of a trace run are
-- chosen by its sender, so they cannot say whose run it is.
create table own_trace_runs (
  tenant_id uuid        not null,
  -- Of the trace run.
  id        uuid        not null,
  -- Of the run of the deployment that the trace is of.
  run_id    uuid        not null,
  sent_at   timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index own_trace_runs_sent on own_trace_runs (sent_at);

-- For claims that go through the origins one after the other.
create index webhook_deliveries_origin on webhook_deliveries (origin, not_before) where status = 'pending';

-- What identifies a key to people, chosen apart from the secret. Null for keys of earlier versions, which are shown by their id.
alter table api_keys add column prefix text;
-- Earlier versions kept the first 11 and the last 4 characters of the key here.
update api_keys set short_key = 'key-' || left(id::text, 8);
-- `current` is the key of SVC_BOOTSTRAP_API_KEY, `replaced` one that it had before and that is revoked. Null for all other keys.
alter table api_keys add column bootstrap text check (bootstrap in ('current', 'replaced'));
create index api_keys_bootstrap on api_keys (bootstrap) where bootstrap is not null;
-- Earlier versions recorded the origin of such keys in their description only.
update api_keys k set bootstrap = 'current' where description = 'SVC_BOOTSTRAP_API_KEY' and role = 'admin' and expires_at is null;

-- When the present attempt was claimed; attempt_at is when its exporter began to work.
alter table export_runs add column claimed_at timestamptz;

do $$ begin
  grant delete on feedback to svc_tenant;
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
