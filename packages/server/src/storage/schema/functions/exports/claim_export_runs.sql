-- Claims up to p_count pending partition runs, and starts exports that are next. At most p_runs partition runs of an export, and at most
-- p_exports exports of a workspace, run at the same time: an advisory lock serializes claims, and nothing else increases either number.
-- Exports of a workspace start in the order of their creation. The workspace, and then the export, with the fewest running partition runs
-- is next; among equals, the one that has waited longest.
--
-- An export starts when all transactions have ended that were writing trace runs when it was created, however long that takes. From then
-- on, the set of its rows only shrinks. Such a transaction holds a lock on trace_runs, which it takes before it sets inserted_at. So a row
-- whose inserted_at is not after the export's created_at is committed, or its transaction is listed in `writers`, which are read after
-- the export was committed. Readers, and writers of other tables, are not waited for.
create or replace function claim_export_runs(p_count integer, p_lease interval, p_runs integer, p_exports integer)
returns setof export_runs language plpgsql as $$
declare
  v_next record;
  v_run export_runs%rowtype;
  v_writers text[];
begin
  if not exists (select from exports e where e.status in ('CREATED', 'RUNNING')) then return; end if;
  perform pg_advisory_xact_lock(7301955204);
  if exists (select from exports e where e.status = 'CREATED') then
    select coalesce(array_agg(l.virtualtransaction), '{}') into v_writers from pg_locks l
    where l.locktype = 'relation' and l.relation = 'trace_runs'::regclass and l.mode = 'RowExclusiveLock' and l.granted
      and l.database = (select d.oid from pg_database d where d.datname = current_database());
    update exports e set writers = v_writers where e.status = 'CREATED' and e.writers is null;
  end if;
  for v_turn in 1..p_count loop
    with recursive running as materialized (
      select e.tenant_id, e.id, e.status, e.created_at, e.claimed_at,
        (select count(*) from export_runs r where r.tenant_id = e.tenant_id and r.export_id = e.id and r.status = 'RUNNING') as runs
      from exports e where e.status = 'RUNNING'
    ), waiting as (
      -- The workspaces with waiting exports, by a loose index scan, which reads neither all workspaces nor all waiting exports.
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
        select * from exports o where o.tenant_id = w.tenant_id and o.status = 'CREATED'
        order by o.created_at, o.id
        limit greatest(0, p_exports - (select count(*) from running n where n.tenant_id = w.tenant_id))
      ) e
      where not e.writers && v_writers
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

    -- The export may have ended meanwhile.
    update exports e set status = 'RUNNING', started_at = coalesce(e.started_at, now()), claimed_at = clock_timestamp(), updated_at = now()
    where e.tenant_id = v_next.tenant_id and e.id = v_next.id and e.status in ('CREATED', 'RUNNING');
    continue when not found;
    update export_runs r
    set status = 'RUNNING', lease_token = r.lease_token + 1, lease_until = now() + p_lease, started_at = coalesce(r.started_at, now()),
        claimed_at = now(), attempt_at = null, attempt_rows = 0, heartbeat_at = now(), updated_at = now()
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
