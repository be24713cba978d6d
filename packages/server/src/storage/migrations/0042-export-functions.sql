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

-- A day, or what of it is exported, for people.
create function export_span(p_start timestamptz, p_end timestamptz) returns text language sql stable as $$
  select to_char(p_start at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' to ' || to_char(p_end at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

/*
 * Takes leases on up to p_count runs that wait, and starts exports whose turn it is. At no time more than p_runs of an export run,
 * nor more than p_exports exports of a workspace: claims follow each other under one lock, and nothing else adds to either number.
 * Exports of a workspace start in the order in which they were made. Who has fewest runs under way is next, and then who has
 * waited longest, first among workspaces and then among the exports of one.
 *
 * An export starts once every transaction is over that began before it was made (those are batches of traces that may yet come to
 * be in it; none takes longer than a minute): from then on the set of its rows only shrinks.
 */
create function claim_export_runs(p_count integer, p_lease interval, p_runs integer, p_exports integer)
returns setof export_runs language plpgsql as $$
declare
  v_next record;
  v_run export_runs%rowtype;
begin
  if not exists (select from exports e where e.status in ('CREATED', 'RUNNING')) then return; end if;
  perform pg_advisory_xact_lock(7301955204);
  for v_turn in 1..p_count loop
    -- What was looked up in the turn before may be older than the exports that this one sees.
    perform pg_stat_clear_snapshot();
    with recursive running as materialized (
      select e.tenant_id, e.id, e.status, e.created_at, e.claimed_at,
        (select count(*) from export_runs r where r.tenant_id = e.tenant_id and r.export_id = e.id and r.status = 'RUNNING') as runs
      from exports e where e.status = 'RUNNING'
    ), busy as materialized (
      select min(a.xact_start) as since from pg_stat_activity a
      where a.datname = current_database() and a.usename = session_user and a.pid <> pg_backend_pid()
    ), waiting as (
      -- The workspaces in which exports wait, along the index: neither all workspaces nor all that waits is looked at.
      (select o.tenant_id from exports o where o.status = 'CREATED' order by o.tenant_id limit 1)
      union all
      select n.tenant_id from waiting w
      cross join lateral (
        select o.tenant_id from exports o where o.status = 'CREATED' and o.tenant_id > w.tenant_id order by o.tenant_id limit 1
      ) n
    ), starting as (
      select e.tenant_id, e.id, e.status, e.created_at, e.claimed_at, 0::bigint as runs
      from waiting w
      cross join lateral (
        select * from exports o where o.tenant_id = w.tenant_id and o.status = 'CREATED' order by o.created_at, o.id
        limit greatest(0, p_exports - (select count(*) from running n where n.tenant_id = w.tenant_id))
      ) e
      cross join busy b
      where b.since is null or b.since > e.created_at or e.created_at < now() - interval '1 minute'
    ), candidate as (
      select * from running union all select * from starting
    ), workspace as (
      select c.tenant_id, sum(c.runs) as runs, max(c.claimed_at) as claimed_at from candidate c group by c.tenant_id
    )
    select c.tenant_id, c.id, c.status, d.run_id into v_next
    from candidate c
    join workspace w on w.tenant_id = c.tenant_id
    cross join lateral (
      select r.id as run_id from export_runs r
      where r.tenant_id = c.tenant_id and r.export_id = c.id and r.status = 'CREATED' and r.not_before <= now()
      order by r.window_start limit 1
    ) d
    where c.runs < p_runs
    order by w.runs, w.claimed_at nulls first, c.runs, c.claimed_at nulls first, c.created_at, c.id
    limit 1;
    exit when not found;

    -- It may have ended a moment ago.
    update exports e set status = 'RUNNING', started_at = coalesce(e.started_at, now()), claimed_at = clock_timestamp(), updated_at = now()
    where e.tenant_id = v_next.tenant_id and e.id = v_next.id and e.status in ('CREATED', 'RUNNING');
    continue when not found;
    update export_runs r
    set status = 'RUNNING', lease_token = r.lease_token + 1, lease_until = now() + p_lease, started_at = coalesce(r.started_at, now()),
        attempt_at = now(), attempt_rows = 0, heartbeat_at = now(), updated_at = now()
    where r.tenant_id = v_next.tenant_id and r.id = v_next.run_id and r.status = 'CREATED'
    returning * into v_run;
    continue when not found;
    if v_next.status = 'CREATED' then
      perform add_export_event(v_next.tenant_id, v_next.id, 'started', null, 'Started');
    end if;
    perform add_export_event(v_run.tenant_id, v_run.export_id, 'claimed', v_run.id,
      format('Attempt %s at %s', v_run.retry_number + 1, export_span(v_run.window_start, v_run.window_end)));
    return next v_run;
  end loop;
end $$;

-- Takes leases on up to p_count exports whose runs are all completed and whose manifest is not written.
create function claim_export_manifests(p_count integer, p_lease interval) returns setof exports language sql as $$
  -- Not a subquery of the update: a plan that reads one again for each export finds the next p_count each time.
  with due as (
    select o.tenant_id, o.id from exports o
    where o.status = 'RUNNING' and o.completing_at is not null and o.lease_until is null and o.not_before <= now()
    order by o.completing_at limit p_count for no key update skip locked
  )
  update exports e set lease_token = e.lease_token + 1, lease_until = now() + p_lease, updated_at = now()
  from due where e.tenant_id = due.tenant_id and e.id = due.id
  returning e.*
$$;

-- Says what is about to be uploaded, before it is. Only under the lease. False: it is somebody else's, or over.
create function begin_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_pending jsonb) returns boolean language plpgsql as $$
begin
  update export_runs r set pending_upload = p_pending, heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
    -- What was begun is finished before anything else is: its rows are those up to its cursor.
    and (r.pending_upload is null or r.pending_upload ->> 'target_cursor' = p_pending ->> 'target_cursor');
  return found;
end $$;

-- The file that was begun is in the bucket for good. Only under the lease. True also when that was said before.
create function commit_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_key text) returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
  v_file record;
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for key share;
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
  for update;
  if not found then return false; end if;
  if v_run.pending_upload is null or v_run.pending_upload ->> 'key' <> p_key then
    return exists (select from export_files f where f.tenant_id = p_tenant and f.run_id = p_run and f.key = p_key);
  end if;
  select * into v_file from jsonb_to_record(v_run.pending_upload) as p (
    target_cursor text, key text, rows bigint, bytes bigint, raw_bytes bigint, sha256 text, min_start_time timestamptz, max_start_time timestamptz);
  insert into export_files (tenant_id, run_id, number, export_id, key, rows, bytes, raw_bytes, sha256, min_start_time, max_start_time)
  select p_tenant, p_run, (select count(*) from export_files f where f.tenant_id = p_tenant and f.run_id = p_run), v_run.export_id,
    v_file.key, v_file.rows, v_file.bytes, v_file.raw_bytes, v_file.sha256, v_file.min_start_time, v_file.max_start_time;
  update export_runs r
  set cursor = v_file.target_cursor, pending_upload = null, reclaims = 0, heartbeat_at = now(), updated_at = now(),
      rows_written = r.rows_written + v_file.rows, bytes_written = r.bytes_written + v_file.bytes,
      raw_bytes = r.raw_bytes + v_file.raw_bytes, attempt_rows = r.attempt_rows + v_file.rows
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'file_written', p_run,
    format('Wrote %s: %s rows, %s bytes', v_file.key, v_file.rows, v_file.bytes));
  return true;
end $$;

-- All rows of the file that was begun, up to p_target, have been deleted, and nothing of it is in the bucket: what follows them is
-- next. Only under the lease; true also when that was said before.
create function skip_export_file(p_tenant uuid, p_run uuid, p_token bigint, p_target text) returns boolean language plpgsql as $$
begin
  update export_runs r
  set cursor = p_target, pending_upload = null, heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING' and r.lease_until > clock_timestamp()
    and case when r.pending_upload is null then r.cursor else r.pending_upload ->> 'target_cursor' end = p_target;
  return found;
end $$;

-- Everything of a run is in the bucket. Only under the lease; true also when that was said before. The last run of an export
-- makes its manifest due.
create function complete_export_run(p_tenant uuid, p_run uuid, p_token bigint) returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
begin
  -- Who completes the last but one and who completes the last must not both believe that there is another.
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  update export_runs r set status = 'COMPLETED', lease_until = null, finished_at = now(), heartbeat_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING'
    and r.lease_until > clock_timestamp() and r.pending_upload is null
  returning * into v_run;
  if not found then
    return exists (select from export_runs r where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'COMPLETED');
  end if;
  perform add_export_event(p_tenant, v_run.export_id, 'run_completed', p_run,
    format('Wrote %s rows of %s', v_run.rows_written, export_span(v_run.window_start, v_run.window_end)));
  if not exists (select from export_runs r where r.tenant_id = p_tenant and r.export_id = v_run.export_id and r.status <> 'COMPLETED') then
    update exports e set completing_at = now(), not_before = now(), updated_at = now()
    where e.tenant_id = p_tenant and e.id = v_run.export_id and e.status = 'RUNNING';
  end if;
  perform pg_notify('svc', 'x:' || v_run.export_id);
  return true;
end $$;

-- The manifest is in the bucket. Only under the lease; true also when that was said before.
create function complete_export(p_tenant uuid, p_export uuid, p_token bigint, p_manifest text) returns boolean language plpgsql as $$
declare
  v_export exports%rowtype;
begin
  update exports e
  set status = 'COMPLETED', manifest = p_manifest, lease_until = null, finished_at = e.completing_at, updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until > clock_timestamp()
  returning * into v_export;
  if not found then
    return exists (select from exports e where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'COMPLETED');
  end if;
  perform add_export_event(p_tenant, p_export, 'completed', null, 'Completed');
  update exports s set failures = 0 where s.tenant_id = p_tenant and s.id = v_export.source_export_id and s.failures > 0;
  perform pg_notify('svc', 'x:' || p_export);
  return true;
end $$;

-- Ends an export that the caller has locked, with its runs. p_cause 'destination' counts against the schedule that it is of.
create function end_export(p_tenant uuid, p_export uuid, p_status text, p_cause text, p_message text) returns void language plpgsql as $$
declare
  v_schedule exports%rowtype;
  v_source uuid;
begin
  perform lock_export_runs(p_tenant, p_export);
  update export_runs r
  set status = case p_status when 'TIMEDOUT' then 'TIMEDOUT' else 'CANCELLED' end, lease_until = null, finished_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.export_id = p_export and r.status in ('CREATED', 'RUNNING');
  update exports e set status = p_status, error = p_message, lease_until = null, finished_at = now(), updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export
  returning e.source_export_id into v_source;
  perform add_export_event(p_tenant, p_export, case p_status when 'TIMEDOUT' then 'timed_out' else 'failed' end, null, p_message);
  perform pg_notify('svc', 'x:' || p_export);
  if p_cause <> 'destination' or v_source is null then return; end if;

  -- What the destination has refused ten times in a row it will refuse once more.
  update exports s set failures = s.failures + 1, updated_at = now()
  where s.tenant_id = p_tenant and s.id = v_source and s.status = 'INTERVALSCHEDULED'
  returning * into v_schedule;
  if v_schedule.failures >= 10 and v_schedule.next_window is not null then
    update exports s set next_window = null, error = left(format('Paused: %s exports in a row have failed. The last one: %s', v_schedule.failures, p_message), 2048)
    where s.tenant_id = p_tenant and s.id = v_source;
    perform add_export_event(p_tenant, v_source, 'paused', null, format('Paused: %s exports in a row have failed', v_schedule.failures));
  end if;
end $$;

/*
 * An attempt of a run has failed, by p_cause: 'error', 'timeout' (its time is over) or 'destination' (trying again would change
 * nothing). Only with the token, though the lease may be over: nobody else has the run while it is RUNNING under this token.
 * Returns what has become of the run; null when it was not its holder who asked.
 */
create function fail_export_attempt(p_tenant uuid, p_run uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval)
returns text language plpgsql as $$
declare
  v_run export_runs%rowtype;
  v_message text := left(p_message, 2048);
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  -- Its state is nobody else's to change while the export is locked, so it need not be locked before those in front of it.
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING';
  if not found then return null; end if;
  v_run.errors := v_run.errors || jsonb_build_object('retry_' || v_run.retry_number, v_message);
  if p_cause <> 'destination' and v_run.retry_number < p_retries then
    update export_runs r
    set status = 'CREATED', errors = v_run.errors, retry_number = r.retry_number + 1, reclaims = 0, lease_until = null,
        not_before = clock_timestamp() + p_delay, updated_at = now()
    where r.tenant_id = p_tenant and r.id = p_run;
    perform add_export_event(p_tenant, v_run.export_id, 'retry', p_run, format('Attempt %s failed: %s', v_run.retry_number + 1, v_message));
    perform pg_notify('svc', 'x:' || v_run.export_id);
    return 'CREATED';
  end if;
  perform lock_export_runs(p_tenant, v_run.export_id);
  v_run.status := case p_cause when 'timeout' then 'TIMEDOUT' else 'FAILED' end;
  update export_runs r
  set status = v_run.status, errors = v_run.errors, lease_until = null, finished_at = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'run_failed', p_run, v_message);
  perform end_export(p_tenant, v_run.export_id, 'FAILED', p_cause,
    left(format('The export run of %s failed: %s', export_span(v_run.window_start, v_run.window_end), v_message), 2048));
  return v_run.status;
end $$;

-- The same for the manifest of an export, whose runs are completed.
create function fail_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_cause text, p_message text, p_retries integer, p_delay interval)
returns text language plpgsql as $$
declare
  v_export exports%rowtype;
  v_message text := left(format('The manifest was not written: %s', p_message), 2048);
begin
  select * into v_export from exports e
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until is not null
  for no key update;
  if not found then return null; end if;
  if p_cause = 'destination' or v_export.retry_number >= p_retries then
    perform end_export(p_tenant, p_export, 'FAILED', p_cause, v_message);
    return 'FAILED';
  end if;
  update exports e
  set retry_number = e.retry_number + 1, reclaims = 0, lease_until = null, not_before = clock_timestamp() + p_delay, updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export;
  perform add_export_event(p_tenant, p_export, 'retry', null, v_message);
  return 'RUNNING';
end $$;

/*
 * A run goes back to be claimed, with the retries that it has: its worker is lost (then p_lost: only once its lease is over), or
 * gives it up. What is lost five times in a row without writing a file is likely the reason itself, so that counts as a
 * failed attempt. Whether it was given back.
 */
create function requeue_export_run(p_tenant uuid, p_run uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval)
returns boolean language plpgsql as $$
declare
  v_run export_runs%rowtype;
begin
  perform from exports e where e.tenant_id = p_tenant
    and e.id = (select r.export_id from export_runs r where r.tenant_id = p_tenant and r.id = p_run) for no key update;
  -- The fifth time may be the end of them all.
  perform lock_export_runs(p_tenant, r.export_id) from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.reclaims >= 4;
  select * into v_run from export_runs r
  where r.tenant_id = p_tenant and r.id = p_run and r.lease_token = p_token and r.status = 'RUNNING'
    and (not p_lost or r.lease_until <= clock_timestamp()) for update;
  if not found then return false; end if;
  if v_run.reclaims >= 4 then
    perform fail_export_attempt(p_tenant, p_run, p_token, 'error',
      format('It was given up 5 times in a row before it could write a file. The last time: %s', p_reason), p_retries, p_delay);
    return true;
  end if;
  update export_runs r set status = 'CREATED', reclaims = r.reclaims + 1, lease_until = null, not_before = now(), updated_at = now()
  where r.tenant_id = p_tenant and r.id = p_run;
  perform add_export_event(p_tenant, v_run.export_id, 'requeued', p_run, p_reason);
  perform pg_notify('svc', 'x:' || v_run.export_id);
  return true;
end $$;

-- The same for the manifest of an export.
create function requeue_export_manifest(p_tenant uuid, p_export uuid, p_token bigint, p_lost boolean, p_reason text, p_retries integer, p_delay interval)
returns boolean language plpgsql as $$
declare
  v_export exports%rowtype;
begin
  select * into v_export from exports e
  where e.tenant_id = p_tenant and e.id = p_export and e.lease_token = p_token and e.status = 'RUNNING' and e.lease_until is not null
    and (not p_lost or e.lease_until <= clock_timestamp()) for no key update;
  if not found then return false; end if;
  if v_export.reclaims >= 4 then
    perform fail_export_manifest(p_tenant, p_export, p_token, 'error', p_reason, p_retries, p_delay);
    return true;
  end if;
  update exports e set lease_until = null, reclaims = e.reclaims + 1, not_before = now(), updated_at = now()
  where e.tenant_id = p_tenant and e.id = p_export;
  perform add_export_event(p_tenant, p_export, 'requeued', null, p_reason);
  perform pg_notify('svc', 'x:' || p_export);
  return true;
end $$;

-- An export that has taken longer than p_timeout since it started ends, with its runs, and is not tried again. Whether it did.
create function time_out_export(p_tenant uuid, p_export uuid, p_timeout interval) returns boolean language plpgsql as $$
begin
  perform from exports e where e.tenant_id = p_tenant and e.id = p_export and e.status = 'RUNNING' and e.started_at <= now() - p_timeout
  for no key update;
  if not found then return false; end if;
  perform end_export(p_tenant, p_export, 'TIMEDOUT', 'timeout', 'It took longer than an export may');
  return true;
end $$;

/*
 * Makes the export of the next window of each of up to p_limit schedules where p_lag has passed since its end: of each workspace in
 * turn, its oldest window first, so that none waits for the schedules of another. A schedule that is behind makes no more while
 * p_unfinished of its exports are, nor any schedule of a workspace while 10,000 of them all are. How many were made.
 */
create function spawn_exports(p_lag interval, p_unfinished integer, p_limit integer) returns integer language plpgsql as $$
declare
  v_schedule exports%rowtype;
  v_end timestamptz;
  v_child uuid;
  v_runs integer;
  v_count integer := 0;
begin
  for v_schedule in
    with due as materialized (
      select d.tenant_id, d.id, d.next_window, row_number() over (partition by d.tenant_id order by d.next_window, d.id) as turn
      from workspaces w
      cross join lateral (
        select count(*) as exports from (
          select from exports c where c.tenant_id = w.id and c.source_export_id is not null and c.status in ('CREATED', 'RUNNING') limit 10000) c
      ) unfinished
      cross join lateral (
        select e.tenant_id, e.id, e.next_window from exports e
        where e.tenant_id = w.id and e.status = 'INTERVALSCHEDULED' and e.next_window + e.interval_hours * interval '1 hour' + p_lag <= now()
          and (select count(*) from exports c where c.tenant_id = e.tenant_id and c.source_export_id = e.id and c.status in ('CREATED', 'RUNNING')) < p_unfinished
        order by e.next_window, e.id limit least(p_limit, 10000 - unfinished.exports)
      ) d
    )
    select e.* from due d join exports e on e.tenant_id = d.tenant_id and e.id = d.id
    -- It may have been cancelled a moment ago, or another may have been here.
    where e.status = 'INTERVALSCHEDULED' and e.next_window = d.next_window
    order by d.turn, e.next_window, e.id limit p_limit for no key update of e skip locked
  loop
    v_end := v_schedule.next_window + v_schedule.interval_hours * interval '1 hour';
    insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, filter, format_version, compression,
      export_fields, source_export_id, status)
    values (v_schedule.tenant_id, gen_random_uuid(), v_schedule.destination_id, v_schedule.session_id, v_schedule.next_window, v_end,
      v_schedule.filter, v_schedule.format_version, v_schedule.compression, v_schedule.export_fields, v_schedule.id, 'CREATED')
    on conflict (tenant_id, source_export_id, window_start) where source_export_id is not null do nothing
    returning id into v_child;
    if found then
      insert into export_runs (tenant_id, id, export_id, window_start, window_end)
      select v_schedule.tenant_id, gen_random_uuid(), v_child, greatest(v_schedule.next_window, d at time zone 'utc'),
        least(v_end, (d + interval '1 day') at time zone 'utc')
      from generate_series(date_trunc('day', v_schedule.next_window at time zone 'utc'), v_end at time zone 'utc', interval '1 day') d
      where d at time zone 'utc' < v_end;
      get diagnostics v_runs = row_count;
      perform add_export_event(v_schedule.tenant_id, v_child, 'created', null, format('Made by its schedule, with %s export runs', v_runs));
      perform add_export_event(v_schedule.tenant_id, v_schedule.id, 'spawned', null,
        format('Made export %s of %s', v_child, export_span(v_schedule.next_window, v_end)));
      perform pg_notify('svc', 'x:' || v_child);
      v_count := v_count + 1;
    end if;
    update exports e set next_window = v_end, updated_at = now() where e.tenant_id = v_schedule.tenant_id and e.id = v_schedule.id;
  end loop;
  return v_count;
end $$;
