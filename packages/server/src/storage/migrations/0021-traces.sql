-- What agents did. A run is a row of the partition of the UTC day on which it started; what started outside the days that
-- are kept, or at an unknown time, is in the partition of the day '-infinity'.

-- The day of each run, so that it is one row whatever is said of it later, and found by its id alone.
create table trace_run_days (
  tenant_id uuid not null,
  id        uuid not null,
  day       date not null,
  primary key (tenant_id, id)
);
create index trace_run_days_day on trace_run_days (day);

-- Days that have a partition.
create table trace_days (day date primary key);

-- The conversation that a run says it belongs to: the first of these keys that it has. Longer texts are no ids: an index
-- has no room for them.
create function trace_thread_id(p_metadata jsonb) returns text language sql immutable as $$
  select case when length(id) <= 512 then id end from (select coalesce(
    case when jsonb_typeof(p_metadata -> 'session_id') in ('string', 'number') then p_metadata ->> 'session_id' end,
    case when jsonb_typeof(p_metadata -> 'conversation_id') in ('string', 'number') then p_metadata ->> 'conversation_id' end,
    case when jsonb_typeof(p_metadata -> 'thread_id') in ('string', 'number') then p_metadata ->> 'thread_id' end)) as found (id)
$$;

create table trace_runs (
  tenant_id                uuid        not null,
  day                      date        not null,
  id                       uuid        not null,
  -- The project. Null while only a patch without it has come; likewise the next four.
  session_id               uuid,
  trace_id                 uuid,
  parent_run_id            uuid,
  name                     text,
  run_type                 text,
  -- Null while neither it nor a parent that has one is known.
  dotted_order             text        collate "C",
  start_time               timestamptz,
  end_time                 timestamptz,
  error                    text,
  -- JSON as it was sent.
  inputs                   text,
  outputs                  text,
  events                   text,
  serialized               text,
  -- JSON: what is not in metadata.
  extra                    text,
  metadata                 jsonb       not null,
  -- An array of texts.
  tags                     jsonb,
  reference_example_id     uuid,
  model                    text,
  prompt_tokens            bigint,
  completion_tokens        bigint,
  total_tokens             bigint,
  prompt_cost              numeric,
  completion_cost          numeric,
  total_cost               numeric,
  -- {prompt_token_details, completion_token_details, prompt_cost_details, completion_cost_details}, as far as they were sent.
  usage_details            jsonb,
  first_token_time         timestamptz,
  thread_id                text generated always as (trace_thread_id(metadata)) stored,
  status                   text generated always as (
    case when error is not null then 'error' when end_time is not null then 'success' else 'pending' end) stored,
  -- The newest of what was written: 0 a post, 1 a patch, and a patch with an end the time of that, in milliseconds.
  rank                     bigint      not null,
  -- Which fields a patch has written, one bit each: a post that comes late leaves them.
  patched                  integer     not null,
  -- What was written, as hashes: what comes again changes nothing.
  writes                   bigint[]    not null,
  inserted_at              timestamptz not null default now(),
  updated_at               timestamptz not null default now(),
  primary key (tenant_id, id, day)
) partition by range (day);
create index trace_runs_session on trace_runs (tenant_id, session_id, start_time, id);
create index trace_runs_trace on trace_runs (tenant_id, trace_id);
create index trace_runs_thread on trace_runs (tenant_id, session_id, thread_id, start_time) where thread_id is not null;
-- With a pending list, unlike others: batches wait for each other anyway, and a third of their work is saved. It is kept short,
-- since every search reads it.
create index trace_runs_labels on trace_runs using gin (metadata jsonb_path_ops, tags jsonb_path_ops)
  with (fastupdate = on, gin_pending_list_limit = 1024);

-- Runs that named a parent and not their path, until that is known.
create table trace_orphans (
  tenant_id     uuid not null,
  parent_run_id uuid not null,
  id            uuid not null,
  primary key (tenant_id, parent_run_id, id)
);

create table trace_attachments (
  tenant_id    uuid  not null,
  day          date  not null,
  run_id       uuid  not null,
  name         text  not null,
  content_type text  not null,
  content      bytea not null,
  primary key (tenant_id, run_id, name, day)
) partition by range (day);
-- Images and sound are compressed already.
alter table trace_attachments alter column content set storage external;

-- Not every PostgreSQL is built with it.
do $$ begin
  alter table trace_runs alter inputs set compression lz4, alter outputs set compression lz4, alter events set compression lz4,
    alter serialized set compression lz4, alter extra set compression lz4, alter error set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end $$;

create table trace_runs_far partition of trace_runs for values from (minvalue) to ('1000-01-01');
create index trace_runs_far_inserted on trace_runs_far (inserted_at);
create table trace_attachments_far partition of trace_attachments for values from (minvalue) to ('1000-01-01');

-- Where a run that starts then is kept: not every odd time gets a partition of its own.
create function trace_day(p_start timestamptz, p_days_kept integer) returns date language sql stable as $$
  select case when p_start >= date_trunc('day', now() at time zone 'utc') at time zone 'utc' - p_days_kept * interval '1 day'
    and p_start < date_trunc('day', now() at time zone 'utc') at time zone 'utc' + interval '2 days'
    then (p_start at time zone 'utc')::date else date '-infinity' end
$$;

-- Makes the partitions of days. Attaching one locks out nobody who reads or writes others.
create function add_trace_days(p_days date[]) returns void language plpgsql as $$
declare
  v_day date;
  v_parent text;
  v_name text;
begin
  perform pg_advisory_xact_lock(7301955202);
  for v_day in select d from unnest(p_days) d where not exists (select from trace_days t where t.day = d) order by d loop
    foreach v_parent in array array['trace_runs', 'trace_attachments'] loop
      v_name := v_parent || to_char(v_day, '_YYYYMMDD');
      -- Sums and searches of the root read indexes alone where all see a page: runs are seldom changed, and often added.
      execute format('create table %I (like %I including all) with (autovacuum_vacuum_insert_scale_factor = 0.05)', v_name, v_parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', v_parent, v_name, v_day, v_day + 1);
    end loop;
    insert into trace_days values (v_day);
  end loop;
end $$;

-- Lets a day go, with everything in it; its rows in trace_run_days are deleted apart from it, in batches. Who reads or writes
-- other days must not wait behind it for long: it gives up, and is tried again.
create function drop_trace_day(p_day date) returns void language plpgsql set lock_timeout = '500ms' as $$
begin
  perform pg_advisory_xact_lock(7301955202);
  -- Of the day after, too: what a run calls may have started after midnight.
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select tenant_id, session_id, hour from trace_hours
  where hour >= p_day::timestamp at time zone 'utc' and hour < (p_day + 2)::timestamp at time zone 'utc';
  execute format('drop table if exists %I', 'trace_runs' || to_char(p_day, '_YYYYMMDD'));
  execute format('drop table if exists %I', 'trace_attachments' || to_char(p_day, '_YYYYMMDD'));
  delete from trace_days where day = p_day;
end $$;

-- Deletes what is over of at most p_limit runs that are in no partition of their own, or whose day is gone. How many.
create function delete_old_traces(p_days_kept integer, p_limit integer) returns integer language plpgsql as $$
declare
  v_count integer;
  v_more integer;
begin
  with old as (
    select tenant_id, id, session_id, run_type, start_time, end_time from trace_runs where day = '-infinity' and inserted_at < now() - p_days_kept * interval '1 day'
    order by inserted_at limit p_limit
  ), called as (
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct old.tenant_id, old.session_id, h from old cross join lateral trace_hours_called(old.start_time, old.end_time) h
    where old.session_id is not null and old.run_type = 'llm'
  ), files as (
    delete from trace_attachments a using old where a.tenant_id = old.tenant_id and a.run_id = old.id and a.day = '-infinity'
  ), days as (
    delete from trace_run_days d using old where d.tenant_id = old.tenant_id and d.id = old.id
  )
  delete from trace_runs r using old where r.tenant_id = old.tenant_id and r.id = old.id and r.day = '-infinity';
  get diagnostics v_count = row_count;
  delete from trace_run_days where (tenant_id, id) in (
    select tenant_id, id from trace_run_days where isfinite(day) and day < current_date - p_days_kept order by day limit p_limit);
  get diagnostics v_more = row_count;
  delete from trace_orphans o where (o.tenant_id, o.parent_run_id, o.id) in (
    select u.tenant_id, u.parent_run_id, u.id from trace_orphans u
    where not exists (select from trace_run_days d where d.tenant_id = u.tenant_id and d.id = u.id) limit p_limit);
  return greatest(v_count, v_more);
end $$;
