-- Assistants, threads, checkpoints, the store, crons, and the tables of periodic tasks.
-- GIN indexes have fastupdate = off: a pending list makes rare lookups slow after bulk inserts.

create table assistants (
  assistant_id uuid primary key,
  graph_id     text        not null,
  name         text        not null,
  description  text,
  config       jsonb       not null default '{}',
  context      jsonb       not null default '{}',
  metadata     jsonb       not null default '{}',
  version      integer     not null default 1,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  -- Created by the server for a graph of a configuration. Only `svc assistants prune` deletes it.
  is_default   boolean     not null default false
);
create index assistants_created on assistants (created_at, assistant_id);
create index assistants_updated on assistants (updated_at, assistant_id);
create index assistants_graph on assistants (graph_id, created_at);
create index assistants_metadata on assistants using gin (metadata jsonb_path_ops) with (fastupdate = off);
create index assistants_default on assistants (graph_id) where is_default;

create table assistant_versions (
  assistant_id uuid        not null references assistants on delete cascade,
  version      integer     not null,
  graph_id     text        not null,
  name         text        not null,
  description  text,
  config       jsonb       not null,
  context      jsonb       not null,
  metadata     jsonb       not null,
  created_at   timestamptz not null default now(),
  primary key (assistant_id, version)
);

-- The expiry of new threads and items: the settings of the node that started last. Executors and functions, which have no settings, create
-- threads and items too, so column defaults read it here.
create table expiry_defaults (
  only_row             boolean primary key default true check (only_row),
  thread_ttl_minutes   double precision,
  thread_ttl_strategy  text check (thread_ttl_strategy in ('delete', 'keep_latest')),
  item_ttl_minutes     double precision,
  item_refresh_on_read boolean not null default true
);
insert into expiry_defaults default values;

-- In plpgsql, which caches plans: they are called for every thread and item.
create function default_thread_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.thread_ttl_minutes from expiry_defaults d); end $$;

create function default_thread_ttl_strategy() returns text
language plpgsql stable as $$ begin return (select d.thread_ttl_strategy from expiry_defaults d); end $$;

create function default_item_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.item_ttl_minutes from expiry_defaults d); end $$;

create function items_refresh_on_read() returns boolean
language plpgsql stable as $$ begin return (select d.item_refresh_on_read from expiry_defaults d); end $$;

-- The state of a thread is its newest checkpoint (checkpoint_heads); the row of the thread has no copy of it.
-- JSON of graphs is stored as text: it may contain escaped NUL or lone surrogates, which jsonb rejects.
create table threads (
  thread_id        uuid primary key,
  -- A thread and its copies share blobs.
  blob_space       uuid        not null,
  status           text        not null default 'idle' check (status in ('idle', 'busy', 'interrupted', 'error')),
  metadata         jsonb       not null default '{}',
  config           jsonb       not null default '{}',
  interrupts       text        not null default '{}',
  error            text,
  -- Until this time a reader follows the events of all runs of the thread.
  watched_until    timestamptz,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  state_updated_at timestamptz not null default now(),
  ttl_minutes      double precision default default_thread_ttl() check (ttl_minutes > 0),
  ttl_strategy     text             default default_thread_ttl_strategy() check (ttl_strategy in ('delete', 'keep_latest')),
  -- When the ttl was set, if the thread existed before: the countdown never starts earlier.
  ttl_since        timestamptz,
  -- The state_updated_at for which keep_latest has been applied.
  ttl_done_at      timestamptz,
  -- Grows when checkpoints of the thread or blobs of its blob space are deleted. A state update that began before is rejected, because
  -- rows that it relies on may be deleted.
  removals         integer     not null default 0,
  -- When the ttl ends; null when there is nothing to do. Set by a trigger.
  expires_at       timestamptz,
  -- The run whose end set status, interrupts and error; null when the state was updated since.
  settled_by       uuid,
  -- The status without runs in flight.
  settled_status   text        not null default 'idle' check (settled_status in ('idle', 'interrupted', 'error')),
  check ((ttl_minutes is null) = (ttl_strategy is null))
);
create index threads_created on threads (created_at, thread_id);
create index threads_updated on threads (updated_at, thread_id);
create index threads_state_updated on threads (state_updated_at, thread_id);
-- Most threads are idle. They are found by the indexes of times, so they need no entry here.
create index threads_not_idle on threads (status, updated_at) where status <> 'idle';
-- Threads that wait for an answer, the oldest first (`has_interrupts` of searches). Cancelled runs and breakpoints leave interrupted threads
-- without a question, and there may be many of them.
create index threads_waiting on threads (state_updated_at, thread_id) where status = 'interrupted' and interrupts <> '{}';
create index threads_blob_space on threads (blob_space);
create index threads_metadata on threads using gin (metadata jsonb_path_ops) with (fastupdate = off);
create index threads_expiring on threads (expires_at) where expires_at is not null;

-- Deleted threads whose rows in other tables are still being deleted. Until then no thread with the id can be created.
create table deleted_threads (
  thread_id  uuid        primary key,
  blob_space uuid        not null,
  deleted_at timestamptz not null default now()
);
create index deleted_threads_space on deleted_threads (blob_space);
create index deleted_threads_age on deleted_threads (deleted_at);

create table checkpoints (
  thread_id     uuid not null,
  checkpoint_ns text not null,
  checkpoint_id uuid not null,
  parent_id     uuid,
  run_id        uuid,
  metadata      text not null,
  -- The checkpoint without its values: versions and pending sends, as JSON text.
  body          text not null,
  -- Channel name to value reference, as JSON text.
  channels      text not null,
  -- The writes of this step: [node, channel, value reference] triples, as JSON text.
  wrote         text,
  -- The checkpoint summary, which readers would otherwise need the graph for: the value channels and the next tasks, as JSON text.
  shape         text,
  -- In the namespace of a subgraph, on the first checkpoint of a run: the head that the run found. For the root it is runs.found_head.
  found_head    uuid,
  primary key (thread_id, checkpoint_ns, checkpoint_id)
);

-- The newest checkpoint of each namespace, moved by compare-and-set. It does not depend on clocks.
create table checkpoint_heads (
  thread_id     uuid not null,
  checkpoint_ns text not null,
  checkpoint_id uuid not null,
  primary key (thread_id, checkpoint_ns)
);

create table checkpoint_writes (
  thread_id     uuid    not null,
  checkpoint_ns text    not null,
  checkpoint_id uuid    not null,
  task_id       text    not null,
  idx           integer not null,
  channel       text    not null,
  task_path     text,
  ref           text    not null,
  -- The run that made the write, when another one (or none) made its checkpoint.
  run_id        uuid,
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
create index checkpoint_writes_run on checkpoint_writes (run_id) where run_id is not null;

-- Values that a later run replaced (only writes with a negative idx are replaced), the newest with the highest version.
create table replaced_writes (
  thread_id     uuid    not null,
  checkpoint_ns text    not null,
  checkpoint_id uuid    not null,
  task_id       text    not null,
  idx           integer not null,
  version       bigint  not null generated always as identity,
  run_id        uuid,
  channel       text    not null,
  task_path     text,
  ref           text    not null,
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, version)
);

-- Values by the hash of their content. A list is a blob whose refs name the blobs of its parts.
create table blobs (
  space   uuid not null,
  hash    uuid not null,
  refs    uuid[],
  payload text,
  primary key (space, hash)
);

-- Blob spaces that may have blobs without a reference.
create table blob_garbage (
  blob_space uuid primary key,
  since      timestamptz not null default now(),
  -- Not at once: a reader of a checkpoint may be about to read its blobs.
  due_at     timestamptz not null default now() + interval '1 minute'
);
create index blob_garbage_due on blob_garbage (due_at);

create table store_items (
  -- One element per label, so a prefix consists of whole labels.
  namespace   text[] collate "C" not null,
  key         text        not null,
  value       jsonb       not null,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  ttl_minutes double precision check (ttl_minutes > 0),
  expires_at  timestamptz,
  primary key (namespace, key)
);
create index store_items_updated on store_items (updated_at);
create index store_items_value on store_items using gin (value jsonb_path_ops) with (fastupdate = off);
create index store_items_expiring on store_items (expires_at) where expires_at is not null;

-- Vectors of store items, for searches by meaning. No extension is needed: the server compares them.
create table store_vectors (
  namespace       text[] collate "C" not null,
  key             text        not null,
  -- The vectors belong to the value that the item got at this time; vectors of another value are ignored. TRUNCATE fires no trigger for rows.
  item_updated_at timestamptz not null,
  -- Numbers in one vector.
  dims            integer     not null check (dims > 0),
  -- One or more vectors, one after another: 4-byte floats, little-endian, each vector of length 1.
  vectors         bytea       not null check (length(vectors) > 0 and length(vectors) % (dims * 4) = 0),
  primary key (namespace, key)
);
-- Numbers do not compress.
alter table store_vectors alter column vectors set storage external;

-- Schedules that create runs. They are deleted with their assistant or thread.
create table crons (
  cron_id          uuid primary key,
  assistant_id     uuid        not null references assistants on delete cascade,
  -- Null: every run gets a new thread, or none.
  thread_id        uuid        references threads on delete cascade,
  on_run_completed text        not null default 'delete' check (on_run_completed in ('delete', 'keep')),
  schedule         text        not null,
  timezone         text,
  end_time         timestamptz,
  enabled          boolean     not null default true,
  -- The options of the runs, as JSON text.
  payload          text        not null,
  metadata         jsonb       not null default '{}',
  -- Null when it will not fire again.
  next_run_date    timestamptz,
  -- Why it was disabled, why its last tick created no run, or why the run of that tick failed if the run was not kept.
  last_error       text,
  -- The user of its runs, encrypted.
  sealed_user      text,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now()
);
create index crons_due on crons (next_run_date) where enabled and next_run_date is not null;
create index crons_thread on crons (thread_id);
create index crons_assistant on crons (assistant_id);
create index crons_created on crons (created_at, cron_id);
create index crons_metadata on crons using gin (metadata jsonb_path_ops) with (fastupdate = off);

-- Every tick, once: the key rejects a second one for the same date.
create table cron_ticks (
  cron_id       uuid        not null references crons on delete cascade,
  scheduled_for timestamptz not null,
  fired_at      timestamptz not null default now(),
  -- Null when the tick created no run.
  run_id        uuid,
  primary key (cron_id, scheduled_for)
);
create index cron_ticks_fired on cron_ticks (fired_at);
create index cron_ticks_run on cron_ticks (run_id);

-- Actions on many runs or threads, and their state:
--
--   preview ──start──▶ running ──────────────▶ completed | failed
--      │                  └──▶ cancelling ──▶ cancelled
--      └── expires

create table jobs (
  job_id      uuid        primary key default gen_random_uuid(),
  kind        text        not null,
  -- Who may see the job: empty without authentication, otherwise a colon and the identity of the user.
  owner       text        not null,
  state       text        not null default 'preview'
    check (state in ('preview', 'running', 'cancelling', 'completed', 'cancelled', 'failed')),
  -- What the caller has sent, as JSON.
  filter      jsonb,
  arguments   jsonb       not null,
  total       integer     not null,
  -- Rows with each result. Their sum is the position of the last row that was worked on.
  done        integer     not null default 0,
  failed      integer     not null default 0,
  skipped     integer     not null default 0,
  error       text,
  -- The user, encrypted, while the job is in progress.
  sealed_user text,
  -- When a group of its rows was worked on last: jobs take turns.
  turn_at     timestamptz,
  created_at  timestamptz not null default now(),
  started_at  timestamptz,
  ended_at    timestamptz,
  expires_at  timestamptz not null
);
-- One job of a kind for each owner.
create unique index jobs_live on jobs (kind, owner) where state in ('running', 'cancelling');
create index jobs_of_owner on jobs (owner, created_at, job_id);
create index jobs_due on jobs (turn_at) where state in ('running', 'cancelling');
create index jobs_expired on jobs (expires_at);

-- The rows of a preview. They outlive the threads and runs that they name, as the report of what was done, and expire with the job.
create table job_rows (
  job_id     uuid        not null references jobs on delete cascade,
  position   integer     not null,
  thread_id  uuid        not null,
  run_id     uuid,
  status     text        not null,
  created_at timestamptz not null,
  -- Null until the row was worked on.
  result     text        check (result in ('done', 'failed', 'skipped')),
  reason     text,
  primary key (job_id, position)
);

-- Work that recurs. One node at a time does it, under a lease.
create table periodic_tasks (
  name        text primary key,
  lease_token bigint      not null default 0,
  lease_until timestamptz,
  next_at     timestamptz not null default now()
);
