-- formerly sha256:79368ac49b977acbc9f6e18ef6a65fc2f77f36201c4ba82193cc0d263f30f8c9
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
