-- Tables and functions like those of svc, with the thread in every key and as the first parameter, as distribution by thread requires:
-- three calls execute a run of one node. bench/sharding.ts creates them in several schemas.
create table assistants (
  assistant_id uuid primary key,
  graph_id     text not null
);
create table threads (
  thread_id  uuid primary key,
  status     text        not null default 'idle',
  metadata   jsonb       not null default '{}',
  updated_at timestamptz not null default now()
);
create table runs (
  thread_id   uuid        not null,
  run_id      uuid        not null,
  status      text        not null,
  lease_token bigint      not null default 1,
  lease_until timestamptz,
  created_at  timestamptz not null default now(),
  primary key (thread_id, run_id)
);
create index runs_pending on runs (created_at) where status = 'pending';
create table checkpoints (
  thread_id     uuid not null,
  checkpoint_id uuid not null,
  body          text not null,
  primary key (thread_id, checkpoint_id)
);
create table checkpoint_heads (
  thread_id     uuid primary key,
  checkpoint_id uuid not null
);
create table blobs (
  thread_id uuid not null,
  hash      uuid not null,
  payload   text not null,
  primary key (thread_id, hash)
);
insert into assistants values ('00000000-0000-0000-0000-000000000001', 'agent');

create function begin_run(p_thread_id uuid, p_run_id uuid, p_assistant_id uuid) returns boolean
language plpgsql as $$
begin
  perform from assistants a where a.assistant_id = p_assistant_id;
  if not found then return false; end if;
  insert into threads (thread_id, status) values (p_thread_id, 'busy') on conflict (thread_id) do nothing;
  perform from threads t where t.thread_id = p_thread_id for update;
  if exists (select from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then return false; end if;
  insert into runs (thread_id, run_id, status, lease_until) values (p_thread_id, p_run_id, 'running', now() + interval '30 s');
  return true;
end $$;

create function commit_step(p_thread_id uuid, p_run_id uuid, p_checkpoint_id uuid, p_blobs json) returns boolean
language plpgsql as $$
begin
  perform from runs r where r.thread_id = p_thread_id and r.run_id = p_run_id and r.lease_token = 1 and r.status = 'running' for share;
  if not found then return false; end if;
  insert into blobs (thread_id, hash, payload)
  select b.thread_id, b.hash, b.payload from json_to_recordset(p_blobs) as b(thread_id uuid, hash uuid, payload text)
  where b.thread_id = p_thread_id
  on conflict do nothing;
  insert into checkpoints values (p_thread_id, p_checkpoint_id, repeat('x', 400));
  insert into checkpoint_heads values (p_thread_id, p_checkpoint_id)
  on conflict (thread_id) do update set checkpoint_id = excluded.checkpoint_id;
  return true;
end $$;

create function end_run(p_thread_id uuid, p_run_id uuid) returns boolean
language plpgsql as $$
begin
  update runs r set status = 'success', lease_until = null where r.thread_id = p_thread_id and r.run_id = p_run_id and r.lease_token = 1;
  if not found then return false; end if;
  perform from threads t where t.thread_id = p_thread_id for update;
  update threads t
  set status = case when exists (select from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then 'busy'
                    else 'idle' end,
      updated_at = now()
  where t.thread_id = p_thread_id;
  return true;
end $$;
