-- formerly sha256:38889f616facd5895aca6c41ce8774610ed063854355256223422a160db33ad3
-- Bulk exports. One export has an export run for each UTC day of its span.
-- Who needs several locks takes them in this order: the workspace's (advisory), the export, its runs.
create table exports (
  tenant_id        uuid        not null references workspaces on delete cascade,
  id               uuid        not null,
  destination_id   uuid        not null,
  session_id       uuid        not null,
  -- No end: a schedule.
  window_start     timestamptz not null,
  window_end       timestamptz,
  filter           text,
  format_version   text        not null check (format_version in ('v1', 'v2_beta')),
  compression      text        not null check (compression in ('none', 'gzip', 'snappy', 'zstandard')),
  -- Null: the usual ones.
  export_fields    text[],
  interval_hours   integer,
  -- The schedule that it is of; null otherwise.
  source_export_id uuid,
  status           text        not null check (status in
    ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT', 'INTERVALSCHEDULED')),
  -- One line, fit to be shown: why it failed, or why a schedule is paused.
  error            text,
  -- Of a schedule: where the next window begins; how many of its exports failed in a row.
  next_window      timestamptz,
  failures         integer     not null default 0,
  -- JSON text, once it is complete.
  manifest         text,
  -- Also the moment that settles which runs are in it: those that were in the store by then.
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  started_at       timestamptz,
  finished_at      timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, destination_id) references export_destinations,
  foreign key (tenant_id, session_id) references projects on delete cascade,
  check (status <> 'INTERVALSCHEDULED' or interval_hours is not null),
  check (window_end > window_start)
);
create index exports_created on exports (tenant_id, created_at, id);
create index exports_destination on exports (tenant_id, destination_id);
create index exports_project on exports (tenant_id, session_id);
create index exports_active on exports (tenant_id, status, created_at) where status in ('CREATED', 'RUNNING', 'INTERVALSCHEDULED');
-- A window of a schedule is exported once, whoever spawns it.
create unique index exports_window on exports (tenant_id, source_export_id, window_start) where source_export_id is not null;

create table export_runs (
  tenant_id        uuid        not null,
  id               uuid        not null,
  export_id        uuid        not null,
  -- The partition.
  window_start     timestamptz not null,
  window_end       timestamptz not null,
  status           text        not null default 'CREATED' check (status in
    ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT')),
  -- 0 for the first attempt. An attempt that was lost with its worker is not counted.
  retry_number     integer     not null default 0,
  -- {retry_0: text, …}
  errors           jsonb       not null default '{}',
  not_before       timestamptz not null default now(),
  -- Grows with every claim: what carries an older one is refused.
  lease_token      bigint      not null default 0,
  lease_until      timestamptz,
  -- How often in a row it was lost with its worker, without a file in between.
  reclaims         integer     not null default 0,
  -- What is written: up to here, exclusive of what comes after it in the order of (start_time, id).
  cursor           text,
  rows_written     bigint      not null default 0,
  bytes_written    bigint      not null default 0,
  raw_bytes        bigint      not null default 0,
  -- The file that is being written: {target_cursor, key, rows, bytes, raw_bytes, sha256, min_start_time, max_start_time}.
  pending_upload   jsonb,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  started_at       timestamptz,
  -- Of the present attempt.
  attempt_at       timestamptz,
  attempt_rows     bigint      not null default 0,
  heartbeat_at     timestamptz,
  finished_at      timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, export_id) references exports on delete cascade
);
create unique index export_runs_window on export_runs (tenant_id, export_id, window_start);
create index export_runs_due on export_runs (not_before) where status = 'CREATED';
create index export_runs_leased on export_runs (lease_until) where status = 'RUNNING';

-- What is in the bucket for good, in the order in which it was written.
create table export_files (
  tenant_id      uuid        not null,
  run_id         uuid        not null,
  number         integer     not null,
  export_id      uuid        not null,
  key            text        not null,
  rows           bigint      not null,
  bytes          bigint      not null,
  raw_bytes      bigint      not null,
  sha256         text        not null,
  min_start_time timestamptz not null,
  max_start_time timestamptz not null,
  written_at     timestamptz not null default now(),
  primary key (tenant_id, run_id, number),
  foreign key (tenant_id, run_id) references export_runs on delete cascade
);
create index export_files_export on export_files (tenant_id, export_id, key);

create table export_events (
  tenant_id uuid        not null,
  export_id uuid        not null,
  id        bigint      generated always as identity,
  at        timestamptz not null default now(),
  type      text        not null,
  run_id    uuid,
  -- Fit to be shown.
  message   text        not null,
  primary key (tenant_id, export_id, id),
  foreign key (tenant_id, export_id) references exports on delete cascade
);

do $$
declare v_table text;
begin
  foreach v_table in array array['exports', 'export_runs', 'export_files', 'export_events'] loop
    execute format('grant select, insert, update, delete on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
