-- Projects, traces, their sums by hour, feedback and prices of models.

-- On the wire a project is a session.
create table projects (
  tenant_id   uuid        not null references workspaces on delete cascade,
  id          uuid        not null,
  name        text        not null check (name <> ''),
  description text,
  -- JSON text.
  extra       text,
  start_time  timestamptz not null default now(),
  primary key (tenant_id, id)
);
create unique index projects_name on projects (tenant_id, md5(name));
create index projects_started on projects (tenant_id, start_time, id);

-- Deleted projects that may still have or get trace runs: other nodes may know the project for a moment longer. No project with such an id
-- can be created, because its trace runs would be deleted with the old ones.
create table trace_deletions (
  tenant_id  uuid        not null references workspaces on delete cascade,
  session_id uuid        not null,
  deleted_at timestamptz not null default now(),
  primary key (tenant_id, session_id)
);

-- A trace run is a row in the partition of the UTC day on which it started. The partition of the day '-infinity' has trace runs that started
-- before the days that are kept, or at an unknown time.

-- The day of each trace run: it has one row even when its start changes, and is found by its id alone.
create table trace_run_days (
  tenant_id uuid not null,
  id        uuid not null,
  day       date not null,
  primary key (tenant_id, id)
);
create index trace_run_days_day on trace_run_days (day);

-- Days that have a partition.
create table trace_days (day date primary key);

-- The thread of a trace run: the first of these keys in its metadata. Longer texts are no ids: they do not fit into an index.
create function trace_thread_id(p_metadata jsonb) returns text language sql immutable as $$
  select case when length(id) <= 512 then id end from (select coalesce(
    case when jsonb_typeof(p_metadata -> 'session_id') in ('string', 'number') then p_metadata ->> 'session_id' end,
    case when jsonb_typeof(p_metadata -> 'conversation_id') in ('string', 'number') then p_metadata ->> 'conversation_id' end,
    case when jsonb_typeof(p_metadata -> 'thread_id') in ('string', 'number') then p_metadata ->> 'thread_id' end)) as found (id)
$$;

create table trace_runs (
  tenant_id            uuid        not null,
  day                  date        not null,
  id                   uuid        not null,
  -- The project. Null while only a PATCH without it has been received; likewise the next four.
  session_id           uuid,
  trace_id             uuid,
  parent_run_id        uuid,
  name                 text,
  run_type             text,
  -- Null while neither it nor a parent that has one is known.
  dotted_order         text        collate "C",
  start_time           timestamptz,
  end_time             timestamptz,
  error                text,
  -- JSON as it was sent.
  inputs               text,
  outputs              text,
  events               text,
  serialized           text,
  -- JSON without metadata.
  extra                text,
  metadata             jsonb       not null,
  -- An array of texts.
  tags                 jsonb,
  reference_example_id uuid,
  model                text,
  prompt_tokens        bigint,
  completion_tokens    bigint,
  total_tokens         bigint,
  prompt_cost          numeric,
  completion_cost      numeric,
  total_cost           numeric,
  -- {prompt_token_details, completion_token_details, prompt_cost_details, completion_cost_details}, as far as they were sent.
  usage_details        jsonb,
  first_token_time     timestamptz,
  thread_id            text generated always as (trace_thread_id(metadata)) stored,
  status               text generated always as (
    case when error is not null then 'error' when end_time is not null then 'success' else 'pending' end) stored,
  -- Of the newest trace write: 0 for a POST, 1 for a PATCH, and for a PATCH with an end this time in milliseconds.
  rank                 bigint      not null,
  -- The fields that a PATCH has written, one bit each: a later POST does not change them.
  patched              integer     not null,
  -- Hashes of the trace writes: a repeated write changes nothing.
  writes               bigint[]    not null,
  inserted_at          timestamptz not null default now(),
  updated_at           timestamptz not null default now(),
  -- Ranks of single fields; null while all have the rank of the row (functions/traces/trace_merge.sql).
  ranks                jsonb,
  primary key (tenant_id, id, day)
) partition by range (day);
-- Includes the columns of sums, which then read the index and no payloads.
create index trace_runs_session on trace_runs (tenant_id, session_id, start_time, id) include (
  day, trace_id, parent_run_id, run_type, status, end_time, first_token_time,
  prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost);
create index trace_runs_trace on trace_runs (tenant_id, trace_id);
create index trace_runs_thread on trace_runs (tenant_id, session_id, thread_id, start_time) where thread_id is not null;
-- With a pending list, unlike others: batches wait for each other anyway, and it saves a third of their work. It is kept short, since every
-- search reads it.
create index trace_runs_labels on trace_runs using gin (metadata jsonb_path_ops, tags jsonb_path_ops)
  with (fastupdate = on, gin_pending_list_limit = 1024);
-- Pending traces of the server's own runs, whose executor may have been lost.
create index trace_runs_own_pending on trace_runs (updated_at)
  where status = 'pending' and metadata ? 'graph_id' and metadata ->> 'run_id' = trace_id::text;

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

-- Not every PostgreSQL is built with lz4.
do $$ begin
  alter table trace_runs alter inputs set compression lz4, alter outputs set compression lz4, alter events set compression lz4,
    alter serialized set compression lz4, alter extra set compression lz4, alter error set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end $$;

create table trace_runs_far partition of trace_runs for values from (minvalue) to ('1000-01-01');
create index trace_runs_far_inserted on trace_runs_far (inserted_at);
create table trace_attachments_far partition of trace_attachments for values from (minvalue) to ('1000-01-01');

-- The trace runs of the workspace, for searches. Under a policy PostgreSQL uses no index whose operator might leak values of hidden rows, such
-- as the index of labels. This view is no security barrier, so all indexes can be used. It guards against a forgotten condition only.
create view tenant_runs as
  select tenant_id, day, id, session_id, trace_id, parent_run_id, name, run_type, dotted_order, start_time, end_time, error, inputs, outputs,
    events, serialized, extra, metadata, tags, reference_example_id, model, prompt_tokens, completion_tokens, total_tokens, prompt_cost,
    completion_cost, total_cost, usage_details, first_token_time, thread_id, status, rank, patched, writes, inserted_at, updated_at
  from trace_runs where tenant_id = (select current_setting('svc.tenant')::uuid);

-- Identifies a row of trace_runs.
create type run_ref as (id uuid, day date);

-- Trace runs that name a parent but not their path, until the path is known.
create table trace_orphans (
  tenant_id     uuid not null,
  parent_run_id uuid not null,
  id            uuid not null,
  primary key (tenant_id, parent_run_id, id)
);

-- Pending trace runs that this server's executors have sent. Ingest by API never writes here: its sender chooses the metadata and ids of a
-- trace run, so they do not prove the owner.
create table own_trace_runs (
  tenant_id uuid        not null,
  -- Of the trace run.
  id        uuid        not null,
  -- Of the run of the deployment.
  run_id    uuid        not null,
  sent_at   timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index own_trace_runs_sent on own_trace_runs (sent_at);

-- Trace runs whose start has moved: an export that was created before uses the start at that time. Kept while there is such an export.
create table trace_moves (
  tenant_id  uuid        not null,
  id         uuid        not null,
  -- In the order in which the start of a trace run moved.
  number     bigint      generated always as identity,
  day        date        not null,
  -- Before the move; 'infinity' when it was not known.
  start_time timestamptz not null,
  moved_at   timestamptz not null default clock_timestamp(),
  primary key (tenant_id, id, number)
);
create index trace_moves_start on trace_moves (tenant_id, day, start_time, id);
create index trace_moves_moved on trace_moves (moved_at);

-- Sums of the trace runs of a project by hour: sums of many days add up hours instead of reading trace runs. A reader counts a changed hour
-- from its trace runs, and a periodic task stores the sums when the hour has not changed for a while. So merges, repetitions and any order of
-- trace writes need no corrections: an hour is right, or known to have changed.
create table trace_hours (
  tenant_id           uuid        not null,
  -- The project.
  session_id          uuid        not null,
  -- Its start. A trace run belongs to the hour in which it started; those in the partition '-infinity' belong to none.
  hour                timestamptz not null,
  run_count           bigint      not null,
  error_count         bigint      not null,
  -- Of models that were not called by another model.
  prompt_tokens       bigint      not null,
  completion_tokens   bigint      not null,
  total_tokens        bigint      not null,
  prompt_cost         numeric,
  completion_cost     numeric,
  total_cost          numeric,
  last_run_start_time timestamptz,
  -- Steps of trace_step(), and the number of trace runs of each.
  latency_steps       smallint[]  not null,
  latency_runs        integer[]   not null,
  first_token_steps   smallint[]  not null,
  first_token_runs    integer[]   not null,
  primary key (tenant_id, session_id, hour)
);
create index trace_hours_hour on trace_hours (hour);

-- Hours that have changed since they were counted. Each batch adds rows together with its trace runs: a statement sees both or neither, and no
-- two batches wait for each other.
create table trace_hour_changes (
  id         bigint      generated always as identity primary key,
  tenant_id  uuid        not null,
  session_id uuid        not null,
  hour       timestamptz not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index trace_hour_changes_hour on trace_hour_changes (tenant_id, session_id, hour);

-- Feedback on trace runs. It may be received before the trace run.
create table feedback (
  tenant_id       uuid        not null references workspaces on delete cascade,
  id              uuid        not null,
  run_id          uuid        not null,
  trace_id        uuid,
  -- The project.
  session_id      uuid,
  key             text        not null,
  score           numeric,
  -- JSON values.
  value           jsonb,
  correction      jsonb,
  comment         text,
  feedback_source jsonb       not null,
  created_at      timestamptz not null default now(),
  modified_at     timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index feedback_run on feedback (tenant_id, run_id, key);
create index feedback_created on feedback (tenant_id, created_at, id);

-- Links that let a browser give feedback on one trace run without a key.
create table feedback_tokens (
  -- The secret of the link.
  id         uuid        primary key,
  tenant_id  uuid        not null references workspaces on delete cascade,
  run_id     uuid        not null,
  key        text        not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index feedback_tokens_run on feedback_tokens (tenant_id, run_id, created_at, id);
create index feedback_tokens_expiry on feedback_tokens (tenant_id, expires_at);

-- Prices of tokens in US dollars. Rows without a workspace are those of the server; the rows of a workspace take precedence.
create table model_prices (
  id                      uuid        primary key,
  tenant_id               uuid        references workspaces on delete cascade,
  name                    text        not null,
  -- A regular expression for the name of the model.
  match_pattern           text        not null,
  provider                text,
  -- The price is valid since this time; always, when null.
  start_time              timestamptz,
  prompt_cost             numeric     not null,
  completion_cost         numeric     not null,
  -- By the kind of token, decimals as texts.
  prompt_cost_details     jsonb       not null default '{}',
  completion_cost_details jsonb       not null default '{}',
  created_at              timestamptz not null default now()
);
create index model_prices_tenant on model_prices (tenant_id, created_at);

-- List prices for a million tokens, of November 2026 or before. A dated version of a model has the price of the model.
insert into model_prices (id, name, match_pattern, provider, prompt_cost, completion_cost, prompt_cost_details)
select md5('price of ' || name)::uuid, name, '^' || pattern || '(-\d{4}-?\d{2}-?\d{2}|-latest)?$', null, prompt / 1000000, completion / 1000000,
  jsonb_strip_nulls(jsonb_build_object('cache_read', trim_scale(cached / 1000000)::text, 'cache_creation', trim_scale(created / 1000000)::text))
from (values
  ('gpt-5', 'gpt-5', 1.25, 10, 0.125, null::numeric),
  ('gpt-5-mini', 'gpt-5-mini', 0.25, 2, 0.025, null),
  ('gpt-5-nano', 'gpt-5-nano', 0.05, 0.4, 0.005, null),
  ('gpt-4.1', 'gpt-4\.1', 2, 8, 0.5, null),
  ('gpt-4.1-mini', 'gpt-4\.1-mini', 0.4, 1.6, 0.1, null),
  ('gpt-4.1-nano', 'gpt-4\.1-nano', 0.1, 0.4, 0.025, null),
  ('gpt-4o', 'gpt-4o', 2.5, 10, 1.25, null),
  ('gpt-4o-mini', 'gpt-4o-mini', 0.15, 0.6, 0.075, null),
  ('o3', 'o3', 2, 8, 0.5, null),
  ('o4-mini', 'o4-mini', 1.1, 4.4, 0.275, null),
  ('claude-opus-4.5', '(anthropic\.)?claude-opus-4[-.]5', 5, 25, 0.5, 6.25),
  ('claude-opus-4', '(anthropic\.)?claude-opus-4([-.][01])?', 15, 75, 1.5, 18.75),
  ('claude-sonnet-4', '(anthropic\.)?claude-sonnet-4([-.][05])?', 3, 15, 0.3, 3.75),
  ('claude-haiku-4.5', '(anthropic\.)?claude-haiku-4[-.]5', 1, 5, 0.1, 1.25),
  ('claude-3.5-haiku', '(anthropic\.)?claude-3[-.]5-haiku', 0.8, 4, 0.08, 1),
  ('gemini-2.5-pro', '(models/)?gemini-2\.5-pro', 1.25, 10, 0.125, null),
  ('gemini-2.5-flash', '(models/)?gemini-2\.5-flash', 0.3, 2.5, 0.03, null),
  ('gemini-2.0-flash', '(models/)?gemini-2\.0-flash', 0.1, 0.4, 0.025, null)
) as shipped (name, pattern, prompt, completion, cached, created);

do $$
declare
  v_table text;
begin
  grant select on trace_days, tenant_runs, trace_hours, trace_deletions to svc_tenant;
  grant select, insert on trace_moves, trace_hour_changes to svc_tenant;
  grant select, insert, update on projects, trace_run_days, trace_runs, trace_attachments to svc_tenant;
  grant select, insert, delete on feedback_tokens to svc_tenant;
  grant select, insert, update, delete on trace_orphans, feedback, model_prices to svc_tenant;
  foreach v_table in array array['projects', 'trace_run_days', 'trace_runs', 'trace_attachments', 'trace_orphans', 'trace_moves', 'trace_hours',
      'trace_hour_changes', 'feedback', 'feedback_tokens', 'model_prices'] loop
    execute format('alter table %I enable row level security', v_table);
    execute format($p$create policy tenant on %I to svc_tenant
      using (tenant_id = (select current_setting('svc.tenant')::uuid)) with check (tenant_id = current_setting('svc.tenant')::uuid)$p$, v_table);
  end loop;
  create policy shipped on model_prices for select to svc_tenant using (tenant_id is null);
  alter table trace_deletions enable row level security;
  create policy tenant on trace_deletions to svc_tenant using (tenant_id = (select current_setting('svc.tenant')::uuid));
exception when undefined_object or insufficient_privilege then
  raise notice 'no role svc_tenant: row level security is off';
end $$;
