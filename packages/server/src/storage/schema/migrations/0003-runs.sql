-- Runs and their queue, run logs, workers and webhooks.

create table runs (
  run_id             uuid primary key,
  thread_id          uuid        not null,
  assistant_id       uuid        not null,
  status             text        not null check (status in ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
  metadata           jsonb       not null default '{}',
  -- input, command, config, context and the options of the run, as JSON text.
  kwargs             text        not null,
  multitask_strategy text        not null default 'enqueue',
  -- A stateless run: it has no checkpoints, and its row is deleted when it ends.
  temporary          boolean     not null default false,
  error              text,
  -- JSON text: the stack of the error, and those of its causes. Only who reads the run gets it.
  error_stack        text,
  -- What other processes receive of the run: nothing, its outcome, or its events, which are stored in run_events from then on.
  log                text        not null default 'nothing' check (log in ('nothing', 'outcome', 'events')),
  -- The URL that receives the outcome.
  webhook            text,
  -- The lease (attempt, token, until) is the right to write for this run. The token grows with every claim.
  attempt            integer     not null default 0,
  lease_token        bigint      not null default 0,
  lease_until        timestamptz,
  worker_id          uuid,
  started_at         timestamptz,
  -- The root head of its thread when the run ended; null when the run never began.
  final_head         uuid,
  -- [{attempt, started_at, at, message, charged}]
  lost_attempts      jsonb       not null default '[]',
  not_before         timestamptz not null default now(),
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  -- The state in which the run found its thread when it was first claimed; found_status is null for a run that never began. Interrupts and
  -- error are JSON text.
  found_head         uuid,
  found_status       text,
  found_interrupts   text,
  found_error        text,
  -- The run that left the thread in this state (threads.settled_by).
  found_by           uuid,
  -- Graph of the assistant when the run was queued; claim_runs() corrects it when the assistant has changed.
  graph_id           text,
  -- Hash of svc_auth_user_id in the metadata: slots are shared fairly between owners. 0 when there is no user.
  owner_hash         integer     not null default 0,
  -- What a pending run waits for: 'time' (its not_before), 'thread' (an earlier run there), 'slot' (a worker may claim it), 'answer' (an input
  -- whose thread asks a question: the run that answers takes it). Null when the run is not pending.
  waits_for          text,
  -- Lease token of the last attempt that committed the work of a node. Such an attempt is not charged when it is lost.
  progress_token     bigint      not null default 0,
  -- Where the events of the run begin in the sequence of its thread (functions/runs/new_first_seq.sql). Set by the first claim.
  first_seq          bigint,
  -- Why the run was cancelled; null for every other run.
  cancel_reason      text,
  -- The run into which the input of this one was sent. Until this run is claimed, that run takes the input at a superstep (take_inputs.sql).
  input_of           uuid
);
-- At most one running run per thread.
create unique index runs_one_running on runs (thread_id) where status = 'running';
create index runs_thread on runs (thread_id, created_at, run_id);
create index runs_in_flight on runs (thread_id, created_at, run_id) where status in ('pending', 'running');
create index runs_pending on runs (not_before, created_at) where status = 'pending';
create index runs_of_assistant on runs (assistant_id) where status in ('pending', 'running');
create index runs_first_seq on runs (thread_id, first_seq) where first_seq is not null;

-- Each index on pending runs has an order of its own: a statement that asks for this order without sorts gets this index, even by a plan
-- that was made when the table was empty.
--
-- Claims read the queues of a graph: one for each assistant and owner, the oldest run first.
create index runs_ready on runs (graph_id, assistant_id, owner_hash, not_before, run_id)
  where status = 'pending' and waits_for = 'slot';
create index runs_ready_on_thread on runs (thread_id, run_id) where status = 'pending' and waits_for = 'slot';
create index runs_ready_since on runs (not_before, run_id desc) where status = 'pending' and waits_for = 'slot';
create index runs_behind on runs (thread_id, created_at, run_id desc) where status = 'pending' and waits_for = 'thread';
create index runs_inputs on runs (thread_id, created_at, run_id desc) where status = 'pending' and input_of is not null;
create index runs_delayed on runs (not_before, run_id desc) where status = 'pending' and waits_for = 'time';
-- The running runs of an assistant and an owner.
create index runs_of_owner on runs (assistant_id, owner_hash) where status = 'running';

-- Searches of runs across threads: the newest runs of each status. With thread_id the order is not that of any index of the queue, so no
-- statement of the queue gets this index.
create index runs_by_status on runs (status, created_at, thread_id, run_id);
-- The feed of run changes reads runs in the order of their last change (storage/deployment/runs/runs.ts). A run gets its only entry when it
-- ends, or is given back to the queue: running runs are few, and pending ones that were never claimed are found by their time of creation. Their
-- status, which runs_by_status contains, changes at the same time, so this index keeps no update from being HOT. No other statement orders by
-- updated_at, so none gets this index.
create index runs_settled on runs (updated_at) where status <> 'running' and (status <> 'pending' or lease_token > 0);

-- A run that create_run() creates. Callers send it as JSON, and kwargs as a parameter of its own, because escaping megabytes of text a second
-- time is expensive.
create type new_run as (
  run_id             uuid,
  -- Null for a stateless run (`temporary`). It has no thread and no checkpoints. Its row is deleted when it ends, or with its log if it has
  -- one.
  thread_id          uuid,
  assistant_id       uuid,
  metadata           jsonb,
  multitask_strategy text,
  create_thread      boolean,
  -- The run is created as running with the caller's lease, if its thread is free and no other run of the caller's graphs waits for a slot.
  -- Otherwise it is queued.
  claim              boolean,
  lease              interval,
  delay              interval,
  worker_id          uuid,
  -- What the run's log stores when the run does not start in the caller's process.
  log                text,
  -- The log stores all events, whatever `log` is.
  resumable          boolean,
  webhook            text,
  -- The run may exist already under this id.
  keyed              boolean,
  -- Filter that the thread must pass (for a stateless run its own metadata), and filter for the assistant. What does not pass is treated as
  -- absent.
  access             jsonpath,
  assistant_access   jsonpath,
  sealed_user        text,
  -- The graphs that the caller executes; null for all. A run of another graph is created only if a worker that executes the graph has reported
  -- itself within `served_within`.
  graphs             text[],
  served_within      interval,
  -- The run answers interrupts of the thread's state of this time (in milliseconds).
  answered_state_at  timestamptz,
  -- The run of the thread that takes the input of this one, if it is in flight; and how many such inputs may wait on the thread.
  input_of           uuid,
  inputs_max         integer
);

-- The backlog when no worker keeps up: /metrics reads it here when counting would take long.
create table run_queue_size (
  only_row   boolean primary key default true check (only_row),
  pending    bigint      not null default 0,
  counted_at timestamptz not null default now()
);
insert into run_queue_size default values;

-- Requested cancels. Not a column of runs: a transaction that has locked a thread must be able to cancel the run that executes there, and
-- flushes lock the row of the run before the thread.
create table run_cancels (
  run_id     uuid primary key,
  action     text        not null check (action in ('interrupt', 'rollback')),
  reason     text        not null,
  created_at timestamptz not null default now()
);

-- The user of a run as its graph sees it: encrypted, since it may contain tokens, and deleted when the run ends.
create table run_users (
  run_id uuid primary key,
  sealed text not null
);

-- The run log of runs whose log is 'events'. Ids count from 0 over all attempts of a run.
create table run_events (
  run_id     uuid        not null,
  first_id   integer     not null,
  -- first_id - 1 when there are no events.
  last_id    integer     not null,
  -- Alternating lines: the name of an event, its data as JSON.
  events     text        not null,
  -- {status, error, values} as JSON text: the end of the log.
  outcome    text,
  created_at timestamptz not null default now(),
  primary key (run_id, first_id, last_id)
);
create index run_events_ended on run_events (created_at) where outcome is not null;

-- Ends of runs and state updates that commit_batch() has stored, by their writer. When the response of a flush is lost, its repetition finds
-- here what was stored: the row of a stateless run is deleted with its end, and the thread of a state update may have changed since.
create table stored_endings (
  owner       uuid        not null,
  -- 0 for a state update.
  lease_token bigint      not null,
  stored_at   timestamptz not null default now(),
  primary key (owner, lease_token)
);
create index stored_endings_age on stored_endings (stored_at);

-- Nodes, as they last reported themselves. Nodes that execute no runs have no slots, and are draining.
create table workers (
  worker_id   uuid primary key,
  name        text        not null,
  slots       integer     not null,
  running     integer     not null,
  -- Executors with an event loop that a graph blocks.
  blocked_executors integer not null default 0,
  draining    boolean     not null default false,
  started_at  timestamptz not null default now(),
  seen_at     timestamptz not null default now(),
  -- Graphs that the process executes.
  graphs      text[]      not null,
  -- The limit of connections of the node with all of its processes.
  connections integer     not null,
  -- The boot, pid namespace and host in which the process id is valid; null where no other process can check it. Another worker on the same
  -- machine can find out that the process has ended.
  machine     text,
  -- Process id and start time.
  process     text,
  -- When another worker found that the process had ended without a report.
  ended_at    timestamptz
);

-- Webhook deliveries, and their state:
--
--   pending ──claim──▶ pending, leased ──▶ delivered
--      ▲                     │        ──▶ failed      rejected permanently, or all attempts have failed
--      └── not_before ◀──────┘ the attempt failed, or the lease ended

create table webhook_deliveries (
  delivery_id uuid        primary key default gen_random_uuid(),
  run_id      uuid        not null,
  thread_id   uuid        not null,
  url         text        not null,
  -- The receiver: one that does not respond must not take all slots.
  origin      text        not null generated always as (coalesce(substring(url from '^[^/]*//[^/?#]*'), '')) stored,
  status      text        not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempt     integer     not null default 0,
  lease_token bigint      not null default 0,
  lease_until timestamptz,
  not_before  timestamptz not null default now(),
  -- The run as it ended and its final values, as JSON text.
  run         text        not null,
  values      text,
  -- Of the run: the owner of the delivery when there is no thread.
  metadata    jsonb       not null default '{}',
  error       text,
  -- The last attempts: [{at, status | error, ms}].
  log         jsonb       not null default '[]',
  created_at  timestamptz not null default now(),
  ended_at    timestamptz
);
-- A run ends once, and has one delivery.
create unique index webhook_deliveries_run on webhook_deliveries (run_id);
create index webhook_deliveries_thread on webhook_deliveries (thread_id);
create index webhook_deliveries_due on webhook_deliveries (not_before) where status = 'pending';
-- For claims that take the origins in turns.
create index webhook_deliveries_origin on webhook_deliveries (origin, not_before) where status = 'pending';
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where ended_at is not null;
-- Searches of webhook deliveries across runs: the newest deliveries of each status. No other statement orders by these columns, so none gets
-- this index.
create index webhook_deliveries_by_status on webhook_deliveries (status, created_at, delivery_id);
