/*
 * Exports of traces. An export has one partition run for each UTC day of its span. Their state machines, which functions change under a lock,
 * together with an event:
 *
 *   export   CREATED ──first run claimed──▶ RUNNING ──all runs COMPLETED──▶ (completing) ──manifest written──▶ COMPLETED
 *               │                             │ ├─ a run or the manifest failed permanently ───────────────▶ FAILED
 *               │                             │ └─ too long since it started ──────────────────────────────▶ TIMEDOUT
 *               └────── cancel_export ────────┴────────────────────────────────────────────────────────────▶ CANCELLED
 *
 *   run      CREATED ──claim──▶ RUNNING ──nothing left to write──▶ COMPLETED
 *               ▲                  ├─ attempt failed, retries left: errors.retry_N, N + 1, after the pause ──▶ CREATED
 *               │                  ├─ none left, or the destination rejects ──▶ FAILED; TIMEDOUT after the time of an attempt
 *               └── worker lost, ──┘ the same N; the fifth in a row without a file counts as a failed attempt
 *                   or stopping
 *            CREATED, RUNNING ──the export ends──▶ CANCELLED, or TIMEDOUT with it
 *
 * COMPLETED, FAILED, CANCELLED and TIMEDOUT are final: every function requires the state that it leaves. When an export has ended, all of its
 * runs have ended, so the status of a run fences the writes under its lease.
 *
 * Locks: the workspace's (advisory), the export, its runs in the order of their ids. An event refers to the export, so inserting it locks the
 * export (key share): it is inserted before a run is locked.
 *
 * The notification 'x:<export>' is sent when something may be claimed, and when the processes that execute its runs should read their state.
 */

create table export_destinations (
  tenant_id        uuid        not null references workspaces on delete cascade,
  id               uuid        not null,
  destination_type text        not null check (destination_type in ('s3', 'file')),
  display_name     text        not null,
  -- JSON text as it was sent, without secrets.
  config           text        not null,
  -- JSON of the secrets, encrypted and bound to this destination. Null: those of the server are used, or none are needed.
  credentials      text,
  credentials_keys text[]      not null default '{}',
  -- Instead of credentials.
  aws_role_arn     text,
  -- The operations that the bucket allowed in the last probe: {can_head, can_delete, can_put_if_none_match}.
  abilities        jsonb       not null default '{}',
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index export_destinations_created on export_destinations (tenant_id, created_at, id);

create table exports (
  tenant_id        uuid        not null references workspaces on delete cascade,
  id               uuid        not null,
  destination_id   uuid        not null,
  session_id       uuid        not null,
  window_start     timestamptz not null,
  -- Null for a schedule.
  window_end       timestamptz,
  filter           text,
  format_version   text        not null check (format_version in ('v1', 'v2_beta')),
  compression      text        not null check (compression in ('none', 'gzip', 'snappy', 'zstandard')),
  -- Null: the default fields.
  export_fields    text[],
  interval_hours   integer,
  -- The schedule that created it; null for other exports.
  source_export_id uuid,
  status           text        not null check (status in
    ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT', 'INTERVALSCHEDULED')),
  -- One line that may be displayed: why it failed, or why a schedule is paused.
  error            text,
  -- Of a schedule: where the next window begins; how many of its exports failed in a row.
  next_window      timestamptz,
  failures         integer     not null default 0,
  -- JSON text, when it is complete.
  manifest         text,
  -- The export contains the trace runs that were stored at this time.
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  started_at       timestamptz,
  finished_at      timestamptz,
  -- When one of its runs was last claimed: the export that has waited longest is next.
  claimed_at       timestamptz,
  -- When its last run was completed; becomes finished_at. From then on the export itself is claimed, to write its manifest.
  completing_at    timestamptz,
  -- Of the manifest, as in export_runs.
  lease_token      bigint      not null default 0,
  lease_until      timestamptz,
  retry_number     integer     not null default 0,
  not_before       timestamptz,
  reclaims         integer     not null default 0,
  -- Transactions that were writing traces when the export was created: it starts when they have ended. Null until they were looked up.
  writers          text[],
  -- The folders of its files (exports/exporter/layout.ts).
  layout_version   integer     not null check (layout_version in (1, 2)),
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
create index exports_unseen on exports (tenant_id) where status = 'CREATED' and writers is null;
-- A window of a schedule is exported once, also when two nodes create its export.
create unique index exports_window on exports (tenant_id, source_export_id, window_start) where source_export_id is not null;
create index exports_unfinished_children on exports (tenant_id, source_export_id)
  where source_export_id is not null and status in ('CREATED', 'RUNNING');

create table export_runs (
  tenant_id      uuid        not null,
  id             uuid        not null,
  export_id      uuid        not null,
  -- The partition.
  window_start   timestamptz not null,
  window_end     timestamptz not null,
  status         text        not null default 'CREATED' check (status in
    ('CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'TIMEDOUT')),
  -- 0 for the first attempt. An attempt that was lost with its worker is not counted.
  retry_number   integer     not null default 0,
  -- {retry_0: text, …}
  errors         jsonb       not null default '{}',
  not_before     timestamptz not null default now(),
  -- Grows with every claim: writes with an older token are rejected.
  lease_token    bigint      not null default 0,
  lease_until    timestamptz,
  -- How often in a row it was lost with its worker, without a file in between.
  reclaims       integer     not null default 0,
  -- The position up to which rows are written, in the order of (start_time, id).
  cursor         text,
  rows_written   bigint      not null default 0,
  bytes_written  bigint      not null default 0,
  raw_bytes      bigint      not null default 0,
  -- The file that is being written: {target_cursor, key, rows, bytes, raw_bytes, sha256, min_start_time, max_start_time}.
  pending_upload jsonb,
  created_at     timestamptz not null default now(),
  updated_at     timestamptz not null default now(),
  started_at     timestamptz,
  -- When the exporter began the current attempt; claimed_at is when a worker claimed it.
  attempt_at     timestamptz,
  attempt_rows   bigint      not null default 0,
  heartbeat_at   timestamptz,
  finished_at    timestamptz,
  claimed_at     timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, export_id) references exports on delete cascade
);
create unique index export_runs_window on export_runs (tenant_id, export_id, window_start);
create index export_runs_due on export_runs (not_before) where status = 'CREATED';
create index export_runs_leased on export_runs (lease_until) where status = 'RUNNING';
create index export_runs_waiting on export_runs (tenant_id, export_id, window_start) where status = 'CREATED';
create index export_runs_running on export_runs (tenant_id, export_id) where status = 'RUNNING';

-- Committed files in the bucket, in the order in which they were written.
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
  -- May be displayed.
  message   text        not null,
  primary key (tenant_id, export_id, id),
  foreign key (tenant_id, export_id) references exports on delete cascade
);

do $$
declare
  v_table text;
begin
  foreach v_table in array array['export_destinations', 'exports', 'export_runs', 'export_files', 'export_events'] loop
    execute format('grant select, insert, update, delete on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
