-- What the runs of a project come to, hour by hour: sums of many days add up hours instead of reading runs. An hour that was
-- written to is counted anew from its runs by whoever asks, and written down again once it has been left alone for a while. So
-- nothing has to be taken back when runs merge, come twice or in any order: an hour is right, or known to have changed.
create table trace_hours (
  tenant_id           uuid        not null,
  -- The project.
  session_id          uuid        not null,
  -- When it begins; runs are of the hour in which they started. Those of the partition of odd days are in none.
  hour                timestamptz not null,
  run_count           bigint      not null,
  error_count         bigint      not null,
  -- Of models that no other model has called.
  prompt_tokens       bigint      not null,
  completion_tokens   bigint      not null,
  total_tokens        bigint      not null,
  prompt_cost         numeric,
  completion_cost     numeric,
  total_cost          numeric,
  last_run_start_time timestamptz,
  -- Steps of trace_step(), and how many runs are on each.
  latency_steps       smallint[]  not null,
  latency_runs        integer[]   not null,
  first_token_steps   smallint[]  not null,
  first_token_runs    integer[]   not null,
  primary key (tenant_id, session_id, hour)
);
create index trace_hours_hour on trace_hours (hour);

-- Hours of which something has changed since they were counted. Each batch adds rows of its own, with its runs: what a statement
-- sees of the one it sees of the other, and no two batches wait for each other.
create table trace_hour_changes (
  id         bigint      generated always as identity primary key,
  tenant_id  uuid        not null,
  session_id uuid        not null,
  hour       timestamptz not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index trace_hour_changes_hour on trace_hour_changes (tenant_id, session_id, hour);

-- Seconds on a scale of steps of 2 %, so that the middle of a step is within 1 % of all on it. Less than a microsecond is 0; where clocks
-- differ there are times below that.
create function trace_step(p_seconds double precision) returns smallint language sql immutable as $$
  select case when abs(p_seconds) < 0.000001 then 0
    else sign(p_seconds) * (1000 + ceil(ln(abs(p_seconds)) / ln(1.02::double precision))) end::smallint
$$;

create function trace_hour_of(p_time timestamptz) returns timestamptz language sql immutable as $$
  select date_bin(interval '1 hour', p_time, timestamptz '2000-01-01 00:00:00+00')
$$;

-- When a run that another has called can have started: while that ran, give or take what clocks differ by, and within a day.
create function trace_calls_from(p_start timestamptz) returns timestamptz language sql stable as $$
  select p_start - interval '5 minutes'
$$;
create function trace_calls_until(p_start timestamptz, p_end timestamptz) returns timestamptz language sql stable as $$
  select least(greatest(p_end, p_start), p_start + interval '24 hours') + interval '5 minutes'
$$;

-- The hours of these; none without a start.
create function trace_hours_called(p_start timestamptz, p_end timestamptz) returns setof timestamptz language sql stable as $$
  select generate_series(trace_hour_of(trace_calls_from(p_start)), trace_hour_of(trace_calls_until(p_start, p_end)), interval '1 hour')
$$;

/*
 * Counts the runs of a project that are in the partition of a day and started from p_from on, before p_to.
 *
 * Tokens are those of models, each once: a model that another calls, such as a wrapper's, is in what that one says. The caller is
 * of the same project, and runs when the called one starts. Costs are of any run that has its own.
 */
create function count_trace_runs(p_tenant uuid, p_session uuid, p_day date, p_from timestamptz, p_to timestamptz)
returns trace_hours language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_sums trace_hours;
begin
  with runs as materialized (
    select r.id, r.parent_run_id, r.run_type, r.status, r.start_time, r.end_time, r.prompt_tokens, r.completion_tokens, r.total_tokens,
      r.prompt_cost, r.completion_cost, r.total_cost, trace_step(date_part('epoch', r.end_time - r.start_time)) as latency,
      trace_step(date_part('epoch', r.first_token_time - r.start_time)) as first_token
    from trace_runs r
    where r.tenant_id = p_tenant and r.session_id = p_session and r.day = p_day and r.start_time >= p_from and r.start_time < p_to
  ), callers as materialized (
    select r.id, trace_calls_from(r.start_time) as first, trace_calls_until(r.start_time, r.end_time) as last
    from runs r where r.run_type = 'llm' and r.total_tokens is not null
    union all
    -- Most are here already.
    select c.id, p.first, p.last from (
      select parent_run_id as id from runs where run_type = 'llm' and parent_run_id is not null except select id from runs) c
    cross join lateral (
      select trace_calls_from(p.start_time) as first, trace_calls_until(p.start_time, p.end_time) as last
      from trace_runs p where p.tenant_id = p_tenant and p.id = c.id and p.session_id = p_session
        and p.day = any (array[p_day, p_day - 1, date '-infinity']) and p.run_type = 'llm' and p.total_tokens is not null
      limit 1) p
  ), counted as (
    select r.*, r.run_type = 'llm' and c.id is null as has_tokens, r.run_type is distinct from 'llm' or c.id is null as has_cost
    from runs r left join callers c on c.id = r.parent_run_id and r.start_time between c.first and c.last
  ), latencies as (
    select latency as step, count(*)::integer as runs from runs where latency is not null group by latency
  ), first_tokens as (
    select first_token as step, count(*)::integer as runs from runs where first_token is not null group by first_token
  )
  select p_tenant, p_session, p_from, count(*), count(*) filter (where status = 'error'),
    coalesce(sum(prompt_tokens) filter (where has_tokens), 0), coalesce(sum(completion_tokens) filter (where has_tokens), 0),
    coalesce(sum(total_tokens) filter (where has_tokens), 0), sum(prompt_cost) filter (where has_cost),
    sum(completion_cost) filter (where has_cost), sum(total_cost) filter (where has_cost), max(start_time),
    array(select step from latencies order by step), array(select runs from latencies order by step),
    array(select step from first_tokens order by step), array(select runs from first_tokens order by step)
  into v_sums from counted;
  return v_sums;
end $$;

-- Where a run was counted before it was of another project or time, or no model any more: seldom, and the new row tells nothing of it.
create function note_moved_run() returns trigger language plpgsql as $$
begin
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select old.tenant_id, old.session_id, h from trace_hours_called(old.start_time, old.end_time) h where old.session_id is not null;
  return null;
end $$;
create trigger note_moved_run after update on trace_runs for each row
  when (old.session_id is distinct from new.session_id or old.start_time is distinct from new.start_time
    or old.run_type is distinct from new.run_type or (old.end_time is not null and old.end_time is distinct from new.end_time))
  execute function note_moved_run();

-- Writes down at most p_limit hours that nobody has written to for so long: before that it is hardly worth it. How many.
create function fold_trace_hours(p_quiet interval, p_limit integer) returns integer language plpgsql as $$
declare
  v_ids bigint[];
begin
  if not pg_try_advisory_xact_lock(7301955203) then return 0; end if;
  -- One note of each hour will do, as long as there is one.
  delete from trace_hour_changes c using (
    select tenant_id, session_id, hour, max(id) as newest from trace_hour_changes
    group by tenant_id, session_id, hour having count(*) > 1) n
  where c.tenant_id = n.tenant_id and c.session_id = n.session_id and c.hour = n.hour and c.id < n.newest;
  select array_agg(id) into v_ids from (
    select max(id) as id from trace_hour_changes group by tenant_id, session_id, hour
    having max(changed_at) <= clock_timestamp() - p_quiet order by max(id) limit p_limit) quiet;
  if v_ids is null then return 0; end if;
  with counted as materialized (
    select f.* from trace_hour_changes c cross join lateral count_trace_runs(
      c.tenant_id, c.session_id, (c.hour at time zone 'utc')::date, c.hour, c.hour + interval '1 hour') f
    where c.id = any (v_ids)
  ), gone as (
    delete from trace_hours h using counted c
    where c.run_count = 0 and h.tenant_id = c.tenant_id and h.session_id = c.session_id and h.hour = c.hour
  )
  insert into trace_hours as h select * from counted where run_count > 0
  on conflict (tenant_id, session_id, hour) do update set run_count = excluded.run_count, error_count = excluded.error_count,
    prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens, total_tokens = excluded.total_tokens,
    prompt_cost = excluded.prompt_cost, completion_cost = excluded.completion_cost, total_cost = excluded.total_cost,
    last_run_start_time = excluded.last_run_start_time, latency_steps = excluded.latency_steps, latency_runs = excluded.latency_runs,
    first_token_steps = excluded.first_token_steps, first_token_runs = excluded.first_token_runs;
  delete from trace_hour_changes where id = any (v_ids);
  return cardinality(v_ids);
end $$;

do $$
declare
  v_table text;
begin
  foreach v_table in array array['trace_hours', 'trace_hour_changes'] loop
    execute format('grant select on %I to svc_tenant', v_table);
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
  grant insert on trace_hour_changes to svc_tenant;
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
