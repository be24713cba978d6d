-- What goes by itself: threads and items after their time to live, checkpoints that a thread no longer needs, blobs
-- that nothing refers to; and who sees to it.

-- The defaults of new threads and items, as the node that started last was configured. Threads and items are made in
-- several places, executors and other functions among them, which know no configuration: columns take it from here.
create table expiry_defaults (
  only_row             boolean primary key default true check (only_row),
  thread_ttl_minutes   double precision,
  thread_ttl_strategy  text check (thread_ttl_strategy in ('delete', 'keep_latest')),
  item_ttl_minutes     double precision,
  item_refresh_on_read boolean not null default true
);
insert into expiry_defaults default values;

-- plpgsql, because it keeps its plans: these run for every thread and item.
create function default_thread_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.thread_ttl_minutes from expiry_defaults d); end $$;

create function default_thread_ttl_strategy() returns text
language plpgsql stable as $$ begin return (select d.thread_ttl_strategy from expiry_defaults d); end $$;

create function default_item_ttl() returns double precision
language plpgsql stable as $$ begin return (select d.item_ttl_minutes from expiry_defaults d); end $$;

create function items_refresh_on_read() returns boolean
language plpgsql stable as $$ begin return (select d.item_refresh_on_read from expiry_defaults d); end $$;

alter table threads
  add column ttl_minutes  double precision check (ttl_minutes > 0),
  add column ttl_strategy text check (ttl_strategy in ('delete', 'keep_latest')),
  -- When the ttl was given, if that was after the thread was made: a ttl never begins in the past.
  add column ttl_since    timestamptz,
  -- The last change that keep_latest has been applied after.
  add column ttl_done_at  timestamptz,
  -- Grows when checkpoints of the thread or blobs of its family are removed: a state update that began before is
  -- refused, because what it believes to be stored may be gone.
  add column removals     integer not null default 0,
  add check ((ttl_minutes is null) = (ttl_strategy is null));
alter table threads
  alter column ttl_minutes set default default_thread_ttl(),
  alter column ttl_strategy set default default_thread_ttl_strategy(),
  -- When the ttl is over; null when there is nothing to do. Set by the trigger.
  add column expires_at timestamptz;
create index threads_expiring on threads (expires_at) where expires_at is not null;

-- So that a state update restarts the clock without knowing of it. Not a generated column: that costs every run,
-- a condition that does not hold costs nothing.
create function set_thread_expiry() returns trigger
language plpgsql as $$
begin
  new.expires_at := case
    when new.ttl_minutes is not null and new.ttl_done_at is distinct from greatest(new.state_updated_at, new.ttl_since)
    then greatest(new.state_updated_at, new.ttl_since) + make_interval(secs => new.ttl_minutes * 60) end;
  return new;
end
$$;
create trigger threads_expiry before insert or update on threads for each row
when (new.ttl_minutes is not null or new.expires_at is not null) execute function set_thread_expiry();

alter table store_items
  add column ttl_minutes double precision check (ttl_minutes > 0),
  add column expires_at  timestamptz;
create index store_items_expiring on store_items (expires_at) where expires_at is not null;

-- Families of copies that may have blobs which nothing refers to any more.
create table blob_garbage (
  blob_space uuid primary key,
  since      timestamptz not null default now(),
  -- Not at once: whoever read a checkpoint a moment ago is about to read its blobs.
  due_at     timestamptz not null default now() + interval '1 minute'
);
create index blob_garbage_due on blob_garbage (due_at);

-- However checkpoints are removed, by pruning or with a run.
create function note_removed_checkpoints() returns trigger
language plpgsql as $$
begin
  with changed as (
    update threads t set removals = t.removals + 1
    where t.thread_id in (select distinct g.thread_id from gone g)
    returning t.blob_space
  )
  insert into blob_garbage as b (blob_space) select distinct c.blob_space from changed c
  on conflict (blob_space) do update set due_at = least(excluded.due_at, b.since + interval '10 minutes');
  return null;
end
$$;
create trigger checkpoints_removed after delete on checkpoints
  referencing old table as gone for each statement execute function note_removed_checkpoints();

-- The last of a family takes its blobs with it (delete_checkpoints).
create function forget_garbage() returns trigger
language plpgsql as $$
begin
  delete from blob_garbage b using gone g
  where b.blob_space = g.blob_space and not exists (select 1 from threads t where t.blob_space = g.blob_space);
  return null;
end
$$;
create trigger threads_removed after delete on threads
  referencing old table as gone for each statement execute function forget_garbage();

-- Stands for the heads of a thread: the same text as long as none has moved.
create function heads_mark(p_thread_id uuid) returns text
language sql stable as $$
  select md5(coalesce(string_agg(h.checkpoint_ns || ' ' || h.checkpoint_id, ',' order by h.checkpoint_ns collate "C"), ''))
  from checkpoint_heads h where h.thread_id = p_thread_id
$$;

-- Removes all checkpoints but the given ones ([{checkpoint_ns, checkpoint_id}]), oldest first and p_count at most.
-- `outcome`: done, more (call again), busy (a run works on the thread or waits), changed (a head has moved since p_mark
-- was taken), missing.
create function prune_thread(p_thread_id uuid, p_mark text, p_kept json, p_count integer) returns text
language plpgsql as $$
declare
  v_removed integer;
begin
  perform 1 from threads t where t.thread_id = p_thread_id for update;
  if not found then return 'missing'; end if;
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return 'busy';
  end if;
  if heads_mark(p_thread_id) <> p_mark then return 'changed'; end if;

  with kept as materialized (
    select k.checkpoint_ns, k.checkpoint_id
    from json_to_recordset(p_kept) as k(checkpoint_ns text, checkpoint_id uuid)
  ), rest as (
    select c.checkpoint_ns, c.checkpoint_id from checkpoints c
    where c.thread_id = p_thread_id
      and not exists (select 1 from kept k where k.checkpoint_ns = c.checkpoint_ns and k.checkpoint_id = c.checkpoint_id)
    order by c.checkpoint_id limit p_count
  ), written as (
    delete from checkpoint_writes w using rest r
    where w.thread_id = p_thread_id and w.checkpoint_ns = r.checkpoint_ns and w.checkpoint_id = r.checkpoint_id
  ), gone as (
    delete from checkpoints c using rest r
    where c.thread_id = p_thread_id and c.checkpoint_ns = r.checkpoint_ns and c.checkpoint_id = r.checkpoint_id
    returning 1
  )
  select count(*) into v_removed from gone;

  delete from checkpoint_heads h
  where h.thread_id = p_thread_id and not exists (
    select 1 from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = h.checkpoint_ns and c.checkpoint_id = h.checkpoint_id);
  if v_removed >= p_count then return 'more'; end if;

  -- Those of checkpoints that were never stored themselves, as durability exit leaves them.
  delete from checkpoint_writes w
  where w.thread_id = p_thread_id and not exists (
    select 1 from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id);
  update checkpoints c set parent_id = null
  where c.thread_id = p_thread_id and c.parent_id is not null and not exists (
    select 1 from checkpoints p
    where p.thread_id = p_thread_id and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_id);
  return 'done';
end
$$;

-- Deletes a thread whose time is over and that nothing uses; whether it did. Runs before the thread, as everywhere.
create function expire_thread(p_thread_id uuid) returns boolean
language plpgsql as $$
begin
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  perform 1 from runs r where r.thread_id = p_thread_id order by r.created_at, r.run_id for update;
  perform 1 from threads t
  where t.thread_id = p_thread_id and t.ttl_strategy = 'delete' and t.expires_at <= now() for update;
  if not found then return false; end if;
  -- A run that was made before the thread was locked. Had it ended already, the time would not be over.
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  return delete_thread(p_thread_id);
end
$$;

-- Removes up to p_count blobs of a family that none of its checkpoints reaches. Null when it cannot be done now: a run
-- or an update of the family may refer to blobs that only it knows of. So all threads of the family are locked, none
-- may have a run under way, and runs that wait are kept from being claimed. Nothing is waited for.
create function collect_blobs(p_space uuid, p_count integer) returns integer
language plpgsql as $$
declare
  v_threads uuid[];
  v_waiting uuid[];
  v_removed integer;
begin
  -- Seen before anything is locked: families that are too large, or at work.
  if (select count(*) from (select 1 from threads t where t.blob_space = p_space limit 1001) s) > 1000
     or exists (select 1 from threads t join runs r using (thread_id) where t.blob_space = p_space and r.status = 'running')
  then return null; end if;
  select coalesce(array_agg(s.thread_id), '{}') into v_threads from (
    select t.thread_id from threads t where t.blob_space = p_space
    order by t.thread_id limit 1000 for update skip locked
  ) s;
  -- Members that somebody else holds, and copies that came meanwhile.
  if (select count(*) from threads t where t.blob_space = p_space) <> cardinality(v_threads) then return null; end if;
  select coalesce(array_agg(s.run_id), '{}') into v_waiting from (
    select r.run_id from runs r where r.thread_id = any (v_threads) and r.status = 'pending'
    order by r.run_id limit 1000 for update skip locked
  ) s;
  if exists (
    select 1 from runs r
    where r.thread_id = any (v_threads) and r.status in ('pending', 'running') and r.run_id <> all (v_waiting)
  ) then return null; end if;
  -- Reading the references of more would keep the threads locked for too long.
  if (select count(*) from (
    select 1 from checkpoints c where c.thread_id = any (v_threads) limit 50001) s) > 50000 then return null; end if;

  -- Any uuid in a place that holds references counts as one: a text that looks like one keeps a blob, no harm done.
  with recursive texts as (
    select c.channels as text from checkpoints c where c.thread_id = any (v_threads)
    union all
    select c.wrote from checkpoints c where c.thread_id = any (v_threads) and c.wrote is not null
    union all
    select w.ref from checkpoint_writes w where w.thread_id = any (v_threads) and w.ref not like '=%'
  ), roots as materialized (
    select distinct (m.match)[1]::uuid as hash
    from texts t, regexp_matches(t.text, '[#[,]([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'g') as m(match)
  ), reached (hash) as (
    select r.hash from roots r
    union
    select child.hash from reached
    join blobs b on b.space = p_space and b.hash = reached.hash
    cross join lateral unnest(b.refs) as child(hash)
  ), removed as (
    delete from blobs b
    where b.space = p_space and b.hash in (
      select u.hash from blobs u
      where u.space = p_space and not exists (select 1 from reached r where r.hash = u.hash)
      limit p_count)
    returning 1
  )
  select count(*) into v_removed from removed;

  if v_removed > 0 then
    update threads t set removals = t.removals + 1 where t.blob_space = p_space;
  end if;
  if v_removed < p_count then delete from blob_garbage g where g.blob_space = p_space; end if;
  return v_removed;
end
$$;

-- Chores that recur, each done by one node at a time.
create table duties (
  name        text primary key,
  lease_token bigint      not null default 0,
  lease_until timestamptz,
  next_at     timestamptz not null default now()
);
