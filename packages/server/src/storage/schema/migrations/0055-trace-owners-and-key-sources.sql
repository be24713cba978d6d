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
