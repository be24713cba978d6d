-- formerly sha256:1d5e85ed2179caf696fbeae9fbb148358865f7aee00a70e2e71b45a70256fc06
/*
 * How exports are executed. What must be decided under a lock is decided here, with its event in the same transaction.
 *
 *   export   CREATED ──first run claimed──▶ RUNNING ──all runs COMPLETED──▶ (completing) ──manifest written──▶ COMPLETED
 *               │                             │ ├─ a run failed for good, or the manifest ─────────────────▶ FAILED
 *               │                             │ └─ too long since it started ──────────────────────────────▶ TIMEDOUT
 *               └────── cancel_export ────────┴────────────────────────────────────────────────────────────▶ CANCELLED
 *
 *   run      CREATED ──claim──▶ RUNNING ──nothing left to write──▶ COMPLETED
 *               ▲                  ├─ attempt failed, retries left: errors.retry_N, N + 1, after the pause ──▶ CREATED
 *               │                  ├─ none left, or the destination refuses ──▶ FAILED; TIMEDOUT after the time of an attempt
 *               └── worker lost, ──┘ the same N; the fifth in a row without a file counts as a failed attempt
 *                   or stopping
 *            CREATED, RUNNING ──the export ends──▶ CANCELLED, or TIMEDOUT with it
 *
 * COMPLETED, FAILED, CANCELLED and TIMEDOUT have no way out: every function here asks for the state that it leaves. An export that
 * is over has no run that is not, so the status of a run is fence enough for who writes under its lease.
 *
 * Locks: the export before its runs, and runs in the order of their ids. Whoever inserts an event refers to the export: it
 * takes a key share of it before it locks a run.
 *
 * 'x:<export>' rings when there may be something to claim, and when who executes a run of that export should look again.
 */
alter table exports
  -- When one of its runs was claimed last: who has waited longest is next.
  add column claimed_at    timestamptz,
  -- When its last run was completed; becomes finished_at. From then on the export itself is claimed, to have its manifest written.
  add column completing_at timestamptz,
  -- Of that: as with runs.
  add column lease_token   bigint  not null default 0,
  add column lease_until   timestamptz,
  add column retry_number  integer not null default 0,
  add column not_before    timestamptz,
  add column reclaims      integer not null default 0;
create index exports_unfinished_children on exports (tenant_id, source_export_id)
  where source_export_id is not null and status in ('CREATED', 'RUNNING');
create index export_runs_waiting on export_runs (tenant_id, export_id, window_start) where status = 'CREATED';
create index export_runs_running on export_runs (tenant_id, export_id) where status = 'RUNNING';
