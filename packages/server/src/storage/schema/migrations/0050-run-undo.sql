-- What removing a run brings back, and threads that are deleted in batches.

-- How the run found its thread when it was first claimed; found_status is null for a run that never began, or that began
-- before these columns were there. Interrupts and error are JSON text.
alter table runs
  add column found_head       uuid,
  add column found_status     text,
  add column found_interrupts text,
  add column found_error      text,
  -- The run that left the thread like that (threads.settled_by).
  add column found_by         uuid;

alter table threads
  -- The run whose end set status, interrupts and error; null when the state was updated since.
  add column settled_by     uuid,
  -- The status without runs in flight; null for threads from before this column, whose status follows from their rows.
  add column settled_status text check (settled_status in ('idle', 'interrupted', 'error'));
alter table threads alter column settled_status set default 'idle';

-- In a namespace of a subgraph, on the first checkpoint of a run: the head that the run found. For the root it is
-- runs.found_head.
alter table checkpoints add column found_head uuid;

-- The run that made the write, when another one (or none) made its checkpoint.
alter table checkpoint_writes add column run_id uuid;
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

-- Threads that have been deleted and whose rows in other tables are still being removed. Until they are gone nobody can
-- create a thread with the id.
create table deleted_threads (
  thread_id  uuid        primary key,
  blob_space uuid        not null,
  deleted_at timestamptz not null default now()
);
create index deleted_threads_space on deleted_threads (blob_space);
create index deleted_threads_age on deleted_threads (deleted_at);
