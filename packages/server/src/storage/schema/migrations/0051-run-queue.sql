-- The queue of runs: which pending runs may start, in what order they are claimed, and which nodes can execute them.
--
-- The functions that fill these columns are replaced after the migrations. A row that an earlier function inserts
-- meanwhile has waits_for null; promote_due_runs() finds it.
alter table runs
  -- Graph of the assistant when the run was queued; claim_runs() corrects it when the assistant has changed.
  add column graph_id       text,
  -- Hash of svc_auth_user_id in the metadata: slots are shared fairly between owners. 0 when there is no user.
  add column owner_hash     integer not null default 0,
  -- What a pending run waits for: 'time' (its not_before), 'thread' (an earlier run there), 'slot' (a worker may claim
  -- it). Null when the run is not pending.
  add column waits_for      text,
  -- Lease token of the last attempt that committed the work of a node. An attempt that did is not charged when it is lost.
  add column progress_token bigint not null default 0;

-- Graphs that the process executes; null: a server of an earlier release, which does not report them.
alter table workers add column graphs text[];

-- Made by the server for a graph of a configuration. Deleted by `svc assistants prune` only.
alter table assistants add column is_default boolean not null default false;
create index assistants_default on assistants (graph_id) where is_default;

-- The backlog when no worker keeps up: /metrics reads it here when counting would take long.
create table run_queue_size (
  only_row   boolean primary key default true check (only_row),
  pending    bigint      not null default 0,
  counted_at timestamptz not null default now()
);
insert into run_queue_size default values;

-- Of the indexes on pending runs, each has an order of its own: a statement that asks for that order without sorts gets that
-- index, even by a plan that was made when the table was empty.
--
-- Claims walk the queues of a graph: one for each assistant and owner, the oldest run first.
create index runs_ready on runs (graph_id, assistant_id, owner_hash, not_before, run_id)
  where status = 'pending' and waits_for = 'slot';
create index runs_ready_on_thread on runs (thread_id, run_id) where status = 'pending' and waits_for = 'slot';
create index runs_ready_since on runs (not_before, run_id desc) where status = 'pending' and waits_for = 'slot';
create index runs_behind on runs (thread_id, created_at, run_id desc) where status = 'pending' and waits_for = 'thread';
create index runs_delayed on runs (not_before, run_id desc) where status = 'pending' and (waits_for is null or waits_for = 'time');
-- What an assistant and an owner have running.
create index runs_of_owner on runs (assistant_id, owner_hash) where status = 'running';

update runs r set graph_id = a.graph_id, owner_hash = coalesce(hashtext(r.metadata ->> 'svc_auth_user_id'), 0)
from assistants a where a.assistant_id = r.assistant_id and r.status in ('pending', 'running');

update runs r set waits_for = case
    when r.not_before > now() then 'time'
    when p.place = 1 and not exists (
      select 1 from runs o where o.thread_id = r.thread_id and o.status = 'running') then 'slot'
    else 'thread' end
from (
  select q.run_id, row_number() over (partition by q.thread_id, q.not_before <= now() order by q.created_at, q.run_id) as place
  from runs q where q.status = 'pending'
) p
where p.run_id = r.run_id;
