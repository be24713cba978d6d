-- Assistants, threads, runs, checkpoints, store.
-- GIN indexes are made with fastupdate = off: a pending list makes rare lookups slow after bulk inserts.

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
  updated_at   timestamptz not null default now()
);
create index assistants_created on assistants (created_at, assistant_id);
create index assistants_updated on assistants (updated_at, assistant_id);
create index assistants_graph on assistants (graph_id, created_at);
create index assistants_metadata on assistants using gin (metadata jsonb_path_ops) with (fastupdate = off);

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

-- The state of a thread is its newest checkpoint (checkpoint_heads); a thread row holds no copy of it.
-- JSON that a graph made is kept as text: it may hold NUL or lone surrogates, escaped, which jsonb refuses.
create table threads (
  thread_id        uuid primary key,
  -- Blobs of checkpoints are shared within a family of copies: every copy keeps its origin's blob_space.
  blob_space       uuid        not null,
  status           text        not null default 'idle' check (status in ('idle', 'busy', 'interrupted', 'error')),
  metadata         jsonb       not null default '{}',
  config           jsonb       not null default '{}',
  interrupts       text        not null default '{}',
  error            text,
  -- Until then somebody reads the events of every run of the thread.
  watched_until    timestamptz,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  state_updated_at timestamptz not null default now()
);
create index threads_created on threads (created_at, thread_id);
create index threads_updated on threads (updated_at, thread_id);
create index threads_state_updated on threads (state_updated_at, thread_id);
-- Most threads are idle: who asks for those walks an index of times, and no idle thread pays for this one.
create index threads_not_idle on threads (status, updated_at) where status <> 'idle';
create index threads_blob_space on threads (blob_space);
create index threads_metadata on threads using gin (metadata jsonb_path_ops) with (fastupdate = off);

create table runs (
  run_id             uuid primary key,
  thread_id          uuid        not null,
  assistant_id       uuid        not null,
  status             text        not null check (status in ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
  metadata           jsonb       not null default '{}',
  -- input, command, config, context and the options of the run, as JSON text.
  kwargs             text        not null,
  multitask_strategy text        not null default 'enqueue',
  -- A run without a thread of its own: no checkpoints, and the row goes when it ends.
  temporary          boolean     not null default false,
  error              text,
  -- Whom this run is told to beside the process that executes it: nobody; who waits for its outcome; or readers
  -- of its events, from then on in run_events.
  log                text        not null default 'nothing' check (log in ('nothing', 'outcome', 'events')),
  -- Where to send the outcome.
  webhook            text,
  -- The lease (attempt, token, until) says who may write for this run. The token grows with every claim.
  attempt            integer     not null default 0,
  lease_token        bigint      not null default 0,
  lease_until        timestamptz,
  worker_id          uuid,
  started_at         timestamptz,
  -- The root head of its thread when it ended, which is what it left; null when it never began.
  final_head         uuid,
  -- Attempts that came to nothing, as [{attempt, at, message}].
  lost_attempts      jsonb       not null default '[]',
  not_before         timestamptz not null default now(),
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);
-- At most one running run per thread, whatever the code does.
create unique index runs_one_running on runs (thread_id) where status = 'running';
create index runs_thread on runs (thread_id, created_at, run_id);
create index runs_in_flight on runs (thread_id, created_at, run_id) where status in ('pending', 'running');
create index runs_pending on runs (not_before, created_at) where status = 'pending';
create index runs_of_assistant on runs (assistant_id) where status in ('pending', 'running');

-- Runs that shall stop. Not a column of runs: who holds a thread must be able to say it of the run that executes
-- there, whose row the flushes of its executor lock before the thread.
create table run_cancels (
  run_id     uuid primary key,
  action     text        not null check (action in ('interrupt', 'rollback')),
  reason     text        not null,
  created_at timestamptz not null default now()
);

-- The key that secrets are sealed with, by its id.
create table encryption_keys (
  only_row boolean primary key default true check (only_row),
  key_id   text    not null
);

-- Whom a run acts for, as its graph sees them: sealed, since it may hold their tokens, and gone when the run is over.
create table run_users (
  run_id uuid primary key,
  sealed text not null
);

-- What happened in runs whose log is 'events', in the order of ids, which count from 0 over all attempts of a run.
create table run_events (
  run_id     uuid        not null,
  first_id   integer     not null,
  -- first_id - 1 when there are none.
  last_id    integer     not null,
  -- Alternating lines: the name of an event, its data as JSON.
  events     text        not null,
  -- {status, error, values} as JSON text: nothing comes after it.
  outcome    text,
  created_at timestamptz not null default now(),
  primary key (run_id, first_id, last_id)
);
create index run_events_ended on run_events (created_at) where outcome is not null;

-- Processes that execute runs, as they last said it of themselves.
create table workers (
  worker_id  uuid primary key,
  name       text        not null,
  slots      integer     not null,
  running    integer     not null,
  draining   boolean     not null default false,
  started_at timestamptz not null default now(),
  seen_at    timestamptz not null default now()
);

create table checkpoints (
  thread_id     uuid    not null,
  checkpoint_ns text    not null,
  checkpoint_id uuid    not null,
  parent_id     uuid,
  run_id        uuid,
  metadata      text    not null,
  -- The checkpoint without its values: versions and pending sends, as JSON text.
  body          text    not null,
  -- Channel name to value reference, as JSON text.
  channels      text    not null,
  -- Which node wrote what to get here: [node, channel, value reference] triples, as JSON text.
  wrote         text,
  -- What a reader would otherwise need the graph for: the value channels and the next tasks, as JSON text.
  shape         text,
  primary key (thread_id, checkpoint_ns, checkpoint_id)
);

-- The newest checkpoint of each namespace, moved by compare-and-set: never found by sorting clocks.
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
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

-- Values by the hash of their content. A list is a blob whose refs name the blobs of its parts.
create table blobs (
  space   uuid not null,
  hash    uuid not null,
  refs    uuid[],
  payload text,
  primary key (space, hash)
);

create table store_items (
  -- One element per label: a prefix is whole segments by construction.
  namespace  text[] collate "C" not null,
  key        text        not null,
  value      jsonb       not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (namespace, key)
);
create index store_items_updated on store_items (updated_at);
create index store_items_value on store_items using gin (value jsonb_path_ops) with (fastupdate = off);
