-- Stores one flush of an executor: everything that its runs and state updates have to store, one JSON list per kind. Each item
-- names its owner: a run with a lease, or a state update. Nothing is stored for an owner that may not write any more. Returns
-- those owners.
-- Idempotent: a flush is sent again when its response was lost, and each owner is then judged by what is stored. An end is stored once
-- (stored_endings). Heads that were moved before are already in place, and all other items replace themselves.
-- Two rows with the same owner, or two owners that write to the same thread, must not be in one flush.
create or replace function commit_batch(p_owners json, p_heads json, p_blobs json, p_checkpoints json, p_writes json,
                             p_shapes json, p_events json, p_endings json) returns uuid[]
language plpgsql as $$
declare
  v_owners uuid[];
  v_held uuid[];
  -- The runs in v_held; the others are state updates.
  v_runs uuid[];
  -- Owners whose end is stored by this transaction, and those whose end was stored by an earlier transmission of this flush.
  v_ending uuid[] := '{}';
  v_over uuid[] := '{}';
  v_item record;
begin
  select coalesce(array_agg(o.owner), '{}') into v_owners
  from json_to_recordset(p_owners) as o(owner uuid);

  -- The insert waits for an earlier transmission that has not ended yet, so only one of them continues with the owner. The rows of owners
  -- that may not write are deleted below.
  if json_array_length(p_endings) > 0 then
    with claimed as (
      insert into stored_endings (owner, lease_token)
      select e.owner, coalesce(o.lease_token, 0)
      from json_to_recordset(p_endings) as e(owner uuid)
      join json_to_recordset(p_owners) as o(owner uuid, lease_token bigint) using (owner)
      order by 1, 2
      on conflict do nothing
      returning owner
    )
    select coalesce(array_agg(c.owner), '{}') into v_ending from claimed c;
    select coalesce(array_agg(e.owner), '{}') into v_over
    from json_to_recordset(p_endings) as e(owner uuid) where e.owner <> all (v_ending);
  end if;

  -- Runs: the lease token must be the newest. Every statement that changes the token, or ends a run without its attempt, locks the row
  -- `for update`, so this lock keeps the token the newest until this transaction commits. A renewal does not wait for this lock.
  select coalesce(array_agg(s.run_id), '{}') into v_held
  from (
    select r.run_id
    from json_to_recordset(p_owners) as o(owner uuid, lease_token bigint)
    join runs r on r.run_id = o.owner and r.lease_token = o.lease_token and r.status = 'running'
    where o.owner <> all (v_over)
    order by r.run_id
    for key share of r
  ) s;

  v_runs := v_held;

  -- State updates: the thread must have no runs in flight, and no removals since the update began.
  for v_item in
    select o.owner, o.thread_id, o.removals
    from json_to_recordset(p_owners) as o(owner uuid, thread_id uuid, removals integer)
    where o.thread_id is not null and o.owner <> all (v_over) order by o.thread_id
  loop
    perform 1 from threads t
    where t.thread_id = v_item.thread_id and t.removals = coalesce(v_item.removals, t.removals) for update;
    if found and not exists (
      select 1 from runs r where r.thread_id = v_item.thread_id and r.status in ('pending', 'running')
    ) then
      v_held := v_held || v_item.owner;
    end if;
  end loop;

  -- All heads of an owner are compared before one of them is moved. An owner with one head needs no comparison before.
  for v_item in
    select s.* from (
      select h.*, count(*) over (partition by h.owner) as heads
      from json_to_recordset(p_heads)
        as h(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, expected uuid)
      where h.owner = any (v_held)
    ) s
    where s.heads > 1
  loop
    perform 1 from checkpoint_heads h
    where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
      and h.checkpoint_id is distinct from v_item.checkpoint_id and h.checkpoint_id is distinct from v_item.expected
    for update;
    if found or v_item.expected is not null and not exists (
      select 1 from checkpoint_heads h where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
    ) then
      v_held := array_remove(v_held, v_item.owner);
    end if;
  end loop;

  for v_item in
    select h.owner, h.thread_id, h.checkpoint_ns, h.checkpoint_id, h.expected,
           count(*) over (partition by h.owner) as heads
    from json_to_recordset(p_heads)
      as h(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, expected uuid)
    where h.owner = any (v_held)
  loop
    if v_item.expected is null then
      insert into checkpoint_heads values (v_item.thread_id, v_item.checkpoint_ns, v_item.checkpoint_id)
      on conflict do nothing;
    else
      update checkpoint_heads h set checkpoint_id = v_item.checkpoint_id
      where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
        and h.checkpoint_id = v_item.expected;
    end if;
    if not found and not exists (
      select 1 from checkpoint_heads h where h.thread_id = v_item.thread_id
        and h.checkpoint_ns = v_item.checkpoint_ns and h.checkpoint_id = v_item.checkpoint_id
    ) then
      if v_item.heads > 1 then
        -- Another transaction has moved the head since the comparison. The flush is repeated, because another head may have been moved here.
        raise exception 'head of % moved during the flush', v_item.thread_id using errcode = 'serialization_failure';
      end if;
      v_held := array_remove(v_held, v_item.owner);
    end if;
  end loop;

  -- At most once per attempt. A search in the text skips the update for most flushes, which carry no progress.
  if position('"progress"' in p_owners::text) > 0 then
    update runs r set progress_token = r.lease_token
    from json_to_recordset(p_owners) as o(owner uuid, progress boolean)
    where o.progress and r.run_id = o.owner and r.run_id = any (v_held);
  end if;

  insert into blobs (space, hash, refs, payload)
  select b.space, b.hash, b.refs, b.payload
  from json_to_recordset(p_blobs) as b(owner uuid, space uuid, hash uuid, refs uuid[], payload text)
  where b.owner = any (v_held)
  on conflict do nothing;

  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body, channels, wrote, shape,
                           found_head)
  select c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape,
         c.found_head
  from json_to_recordset(p_checkpoints)
    as c(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, parent_id uuid, run_id uuid,
         metadata text, body text, channels text, wrote text, shape text, found_head uuid)
  where c.owner = any (v_held)
  on conflict (thread_id, checkpoint_ns, checkpoint_id) do update
  set metadata = excluded.metadata, body = excluded.body, channels = excluded.channels, wrote = excluded.wrote,
      shape = excluded.shape;

  -- A write stores its run only when another run made the checkpoint. `own` says that this run did; without it, the checkpoint
  -- is looked up.
  insert into checkpoint_writes as w (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, task_path, ref, run_id)
  select n.thread_id, n.checkpoint_ns, n.checkpoint_id, n.task_id, n.idx, n.channel, n.task_path, n.ref,
         case when n.own or n.owner <> all (v_runs) then null
              else nullif(n.owner, (
                select c.run_id from checkpoints c
                where c.thread_id = n.thread_id and c.checkpoint_ns = n.checkpoint_ns and c.checkpoint_id = n.checkpoint_id))
         end
  from json_to_recordset(p_writes)
    as n(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, task_id text, idx integer,
         channel text, task_path text, ref text, own boolean)
  where n.owner = any (v_held)
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do update
  set channel = excluded.channel, ref = excluded.ref, run_id = excluded.run_id
  where w.idx < 0; -- control writes (error, interrupt, resume): the newest counts. Results never change.

  if json_array_length(p_shapes) > 0 then
    update checkpoints c set shape = coalesce(s.shape, c.shape), wrote = coalesce(s.wrote, c.wrote)
    from json_to_recordset(p_shapes)
      as s(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, shape text, wrote text)
    where s.owner = any (v_held) and c.thread_id = s.thread_id and c.checkpoint_ns = s.checkpoint_ns
      and c.checkpoint_id = s.checkpoint_id;
  end if;

  for v_item in
    select e.owner, e.first_id, e.last_id, e.events, e.keep_from
    from json_to_recordset(p_events)
      as e(owner uuid, first_id integer, last_id integer, events text, keep_from integer)
    where e.owner = any (v_held)
  loop
    insert into run_events (run_id, first_id, last_id, events)
    values (v_item.owner, v_item.first_id, v_item.last_id, v_item.events)
    on conflict do nothing;
    if v_item.keep_from is not null then
      delete from run_events e where e.run_id = v_item.owner and e.last_id < v_item.keep_from;
    end if;
    perform pg_notify('svc', 'e:' || v_item.owner);
  end loop;

  for v_item in
    select e.owner, e.thread_id, e.status, e.ending, e.interrupts, e.error, e."values", e.told, e.stack
    from json_to_recordset(p_endings)
      as e(owner uuid, thread_id uuid, status text, ending text, interrupts text, error text, "values" text, told boolean,
              stack text)
    where e.owner = any (v_held)
  loop
    if v_item.status is not null then
      perform end_run(v_item.owner, v_item.status, v_item.ending, v_item.interrupts, v_item.error, v_item."values", v_item.told,
                      v_item.stack);
    else
      -- Later runs depend on the update, so removing an earlier run must not change the thread any more.
      -- `ending` is null for an update that leaves the status as it is.
      update threads t
      set interrupts = coalesce(v_item.interrupts, t.interrupts),
          status = coalesce(v_item.ending, t.status),
          settled_status = coalesce(v_item.ending, t.settled_status),
          error = case when v_item.ending is null then t.error end,
          settled_by = null, updated_at = now(), state_updated_at = now()
      where t.thread_id = v_item.thread_id;
    end if;
  end loop;

  if not v_ending <@ v_held then
    delete from stored_endings s using json_to_recordset(p_owners) as o(owner uuid, lease_token bigint)
    where s.owner = o.owner and s.lease_token = coalesce(o.lease_token, 0)
      and o.owner = any (v_ending) and o.owner <> all (v_held);
  end if;
  return array(select unnest(v_owners) except select unnest(v_held || v_over));
end
$$;
