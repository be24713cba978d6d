-- Decisions that must see the newest rows after waiting for a lock live in functions: each statement of a
-- function takes a fresh snapshot, and the whole decision costs one round trip.

-- Inserts a run, creating its thread if asked; `outcome` tells why there is none: no_assistant, no_thread, busy.
-- With `claim`, and nothing before it on the thread, the run starts out running under the caller's lease.
-- Without a thread id the run is temporary: no thread, no checkpoints, and the row goes when it ends.
create function create_run(
  p_run_id uuid, p_thread_id uuid, p_assistant_id uuid, p_metadata jsonb, p_kwargs text, p_strategy text,
  p_create_thread boolean, p_claim boolean, p_lease interval, p_delay interval
) returns table (outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamptz,
                 graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
                 blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid)
language plpgsql as $$
declare
  v_assistant assistants%rowtype;
  v_thread threads%rowtype;
  v_run runs%rowtype;
  v_temporary boolean := p_thread_id is null;
  v_claim boolean := p_claim;
  v_is_new boolean := false;
  v_named jsonb;
begin
  select * into v_assistant from assistants a where a.assistant_id = p_assistant_id;
  if not found then
    outcome := 'no_assistant';
    return next;
    return;
  end if;

  v_named := jsonb_build_object('graph_id', v_assistant.graph_id, 'assistant_id', p_assistant_id);
  if not v_temporary then
    select * into v_thread from threads t where t.thread_id = p_thread_id for update;
    if not found then
      if not p_create_thread then
        outcome := 'no_thread';
        return next;
        return;
      end if;
      -- As the run will leave it: the update below is for threads that were there before.
      insert into threads (thread_id, blob_space, status, metadata)
      values (p_thread_id, p_thread_id, 'busy', v_named)
      on conflict do nothing returning * into v_thread;
      v_is_new := found;
      if not v_is_new then
        select * into v_thread from threads t where t.thread_id = p_thread_id for update;
      end if;
    end if;
    if not v_is_new and exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
      if p_strategy = 'reject' then
        outcome := 'busy';
        return next;
        return;
      end if;
      v_claim := false;
    end if;
  end if;

  insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary,
                    attempt, lease_token, lease_until, not_before, created_at)
  values (p_run_id, coalesce(p_thread_id, gen_random_uuid()), p_assistant_id,
          case when v_claim then 'running' else 'pending' end, p_metadata, p_kwargs, p_strategy, v_temporary,
          v_claim::integer, v_claim::integer, case when v_claim then now() + p_lease end,
          now() + p_delay, clock_timestamp()) -- not now(): the order of a thread's runs is the order of its lock
  returning * into v_run;

  if not v_temporary and not v_is_new then
    update threads t
    set status = 'busy', updated_at = now(), metadata = t.metadata || v_named
    where t.thread_id = p_thread_id
    returning * into v_thread;
  end if;

  return query select 'created', v_run.thread_id, v_run.status, v_run.lease_token, v_run.created_at,
    v_assistant.graph_id, v_assistant.config, v_assistant.context, v_assistant.metadata,
    v_thread.blob_space, v_thread.config, v_thread.metadata,
    (select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = '');
end
$$;

-- Takes up to p_count runs that may start: pending and due, first on their thread, or running under a lease
-- that has ended. A run whose attempts are used up becomes an error instead and is returned as such.
create function claim_runs(p_count integer, p_lease interval, p_attempts integer)
returns setof runs
language plpgsql as $$
declare
  v_run runs%rowtype;
begin
  for v_run in
    select r.* from runs r
    where (r.status = 'pending' and r.not_before <= now()
           and not exists (
             select 1 from runs o
             where o.thread_id = r.thread_id and o.run_id <> r.run_id
               and (o.status = 'running'
                    or (o.status = 'pending' and (o.created_at, o.run_id) < (r.created_at, r.run_id)
                        and o.not_before <= now()))))
       or (r.status = 'running' and r.lease_until < now())
    order by r.created_at, r.run_id
    limit p_count
    for update skip locked
  loop
    if v_run.status = 'running' and v_run.attempt >= p_attempts then
      update runs r
      set status = 'error', lease_until = null, lease_token = r.lease_token + 1, updated_at = now(),
          error = json_build_object('error', 'AttemptsExhausted', 'message',
                    format('The run was lost with its executor %s times', v_run.attempt))::text
      where r.run_id = v_run.run_id returning * into v_run;
      perform settle_thread(v_run.thread_id, 'error', null, v_run.error);
    else
      begin
        update runs r
        set status = 'running', attempt = r.attempt + 1, lease_token = r.lease_token + 1,
            lease_until = now() + p_lease, updated_at = now()
        where r.run_id = v_run.run_id returning * into v_run;
      exception when unique_violation then
        continue; -- another worker started a run on this thread a moment ago
      end;
    end if;
    return next v_run;
  end loop;
end
$$;

-- The thread after a run: error, else interrupted, else busy while other runs wait, else idle.
create function settle_thread(p_thread_id uuid, p_ending text, p_interrupts text, p_error text)
returns void
language sql as $$
  update threads t
  set status = case
        when p_ending in ('error', 'interrupted') then p_ending
        when exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then 'busy'
        else 'idle' end,
      interrupts = coalesce(p_interrupts, t.interrupts),
      error = p_error,
      updated_at = now(),
      state_updated_at = now()
  where t.thread_id = p_thread_id
$$;

-- One flush of an executor: everything that its runs (and state updates) have to store, a JSON list of each kind.
-- Each item names its owner, a run under a lease or a state update; an owner that has lost its right writes
-- nothing at all. Returns the owners that have.
create function commit_batch(p_owners json, p_heads json, p_blobs json, p_checkpoints json, p_writes json,
                             p_shapes json, p_endings json) returns uuid[]
language plpgsql as $$
declare
  v_held uuid[];
  v_owners uuid[];
  v_item record;
begin
  select coalesce(array_agg(o.owner), '{}') into v_owners
  from json_to_recordset(p_owners) as o(owner uuid);

  -- Runs: the lease token must be the newest. The share lock keeps it so until this commits.
  select coalesce(array_agg(s.run_id), '{}') into v_held
  from (
    select r.run_id
    from json_to_recordset(p_owners) as o(owner uuid, lease_token bigint)
    join runs r on r.run_id = o.owner and r.lease_token = o.lease_token and r.status = 'running'
    order by r.run_id
    for share of r
  ) s;

  -- State updates: nothing may run or wait on the thread.
  for v_item in
    select o.owner, o.thread_id
    from json_to_recordset(p_owners) as o(owner uuid, thread_id uuid)
    where o.thread_id is not null order by o.thread_id
  loop
    perform 1 from threads t where t.thread_id = v_item.thread_id for update;
    if found and not exists (
      select 1 from runs r where r.thread_id = v_item.thread_id and r.status in ('pending', 'running')
    ) then
      v_held := v_held || v_item.owner;
    end if;
  end loop;

  for v_item in
    select h.owner, h.thread_id, h.checkpoint_ns, h.checkpoint_id, h.expected
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
    if not found then
      v_held := array_remove(v_held, v_item.owner);
    end if;
  end loop;

  insert into blobs (space, hash, refs, payload)
  select b.space, b.hash, b.refs, b.payload
  from json_to_recordset(p_blobs) as b(owner uuid, space uuid, hash uuid, refs uuid[], payload text)
  where b.owner = any (v_held)
  on conflict do nothing;

  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body, channels, wrote, shape)
  select c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape
  from json_to_recordset(p_checkpoints)
    as c(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, parent_id uuid, run_id uuid,
         metadata text, body text, channels text, wrote text, shape text)
  where c.owner = any (v_held)
  on conflict (thread_id, checkpoint_ns, checkpoint_id) do update
  set metadata = excluded.metadata, body = excluded.body, channels = excluded.channels, wrote = excluded.wrote,
      shape = excluded.shape;

  insert into checkpoint_writes as w (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, task_path, ref)
  select n.thread_id, n.checkpoint_ns, n.checkpoint_id, n.task_id, n.idx, n.channel, n.task_path, n.ref
  from json_to_recordset(p_writes)
    as n(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, task_id text, idx integer,
         channel text, task_path text, ref text)
  where n.owner = any (v_held)
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do update
  set channel = excluded.channel, ref = excluded.ref
  where w.idx < 0; -- negative: error, interrupt, resume; the newest counts. Others never change.

  if json_array_length(p_shapes) > 0 then
    update checkpoints c set shape = s.shape
    from json_to_recordset(p_shapes)
      as s(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, shape text)
    where s.owner = any (v_held) and c.thread_id = s.thread_id and c.checkpoint_ns = s.checkpoint_ns
      and c.checkpoint_id = s.checkpoint_id;
  end if;

  for v_item in
    select e.owner, e.thread_id, e.status, e.ending, e.interrupts, e.error, e.temporary
    from json_to_recordset(p_endings)
      as e(owner uuid, thread_id uuid, status text, ending text, interrupts text, error text, temporary boolean)
    where e.owner = any (v_held)
  loop
    if v_item.temporary then
      delete from runs r where r.run_id = v_item.owner;
    else
      if v_item.status is not null then
        update runs r set status = v_item.status, error = v_item.error, lease_until = null, updated_at = now()
        where r.run_id = v_item.owner;
        perform settle_thread(v_item.thread_id, v_item.ending, v_item.interrupts, v_item.error);
      else
        update threads t set interrupts = coalesce(v_item.interrupts, t.interrupts),
                             updated_at = now(), state_updated_at = now()
        where t.thread_id = v_item.thread_id;
      end if;
    end if;
  end loop;

  return array(select unnest(v_owners) except select unnest(v_held));
end
$$;

-- Blobs are shared by a family of copies; they go with its last member.
create function delete_checkpoints(p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_space uuid;
begin
  select t.blob_space into v_space from threads t where t.thread_id = p_thread_id for update;
  delete from checkpoint_writes w where w.thread_id = p_thread_id;
  delete from checkpoint_heads h where h.thread_id = p_thread_id;
  delete from checkpoints c where c.thread_id = p_thread_id;
  if not exists (select 1 from threads t where t.blob_space = v_space and t.thread_id <> p_thread_id) then
    delete from blobs b where b.space = v_space;
  end if;
end
$$;

-- False when there was no such thread. Runs first: that waits for flushes which hold them, and whose checkpoints the
-- statements after it then see. Run before thread is also the order in which a flush locks.
create function delete_thread(p_thread_id uuid) returns boolean
language plpgsql as $$
begin
  if not exists (select 1 from threads t where t.thread_id = p_thread_id) then return false; end if;
  delete from runs r where r.thread_id = p_thread_id;
  perform delete_checkpoints(p_thread_id);
  delete from runs r where r.thread_id = p_thread_id; -- made before the thread was locked
  delete from threads t where t.thread_id = p_thread_id;
  return found;
end
$$;

-- A new thread with the same history at the cost of references; false when there is no such thread.
-- One statement, hence one snapshot: a run that writes meanwhile is in the copy up to one checkpoint, not in parts.
create function copy_thread(p_source uuid, p_copy uuid, p_metadata jsonb) returns boolean
language plpgsql as $$
begin
  perform 1 from threads t where t.thread_id = p_source for share;
  if not found then return false; end if;
  with thread as (
    insert into threads (thread_id, blob_space, metadata, interrupts, status)
    select p_copy, t.blob_space, t.metadata || p_metadata, t.interrupts,
           case when t.status = 'interrupted' then 'interrupted' else 'idle' end
    from threads t where t.thread_id = p_source
  ), heads as (
    insert into checkpoint_heads
    select p_copy, h.checkpoint_ns, h.checkpoint_id from checkpoint_heads h where h.thread_id = p_source
  ), written as (
    insert into checkpoint_writes
    select p_copy, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.idx, w.channel, w.task_path, w.ref
    from checkpoint_writes w where w.thread_id = p_source
  )
  insert into checkpoints
  select p_copy, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape
  from checkpoints c where c.thread_id = p_source;
  return true;
end
$$;

-- Removes a run that is over, and the checkpoints that it made: what came after them hangs on what came before.
create function delete_run(p_run_id uuid, p_thread_id uuid) returns text
language plpgsql as $$
declare
  v_status text;
  v_chain record;
begin
  select r.status into v_status from runs r where r.run_id = p_run_id and r.thread_id = p_thread_id for update;
  if not found then return 'missing'; end if;
  if v_status in ('pending', 'running') then return 'in_flight'; end if;

  perform 1 from threads t where t.thread_id = p_thread_id for update;
  for v_chain in
    select c.checkpoint_ns, array_agg(c.checkpoint_id) as ids,
           (array_agg(c.parent_id order by c.checkpoint_id))[1] as before
    from checkpoints c where c.thread_id = p_thread_id and c.run_id = p_run_id
    group by c.checkpoint_ns
  loop
    delete from checkpoint_writes w
    where w.thread_id = p_thread_id and w.checkpoint_ns = v_chain.checkpoint_ns and w.checkpoint_id = any (v_chain.ids);
    delete from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = v_chain.checkpoint_ns and c.checkpoint_id = any (v_chain.ids);
    update checkpoints c set parent_id = v_chain.before
    where c.thread_id = p_thread_id and c.checkpoint_ns = v_chain.checkpoint_ns and c.parent_id = any (v_chain.ids);
    if v_chain.before is null then
      delete from checkpoint_heads h
      where h.thread_id = p_thread_id and h.checkpoint_ns = v_chain.checkpoint_ns and h.checkpoint_id = any (v_chain.ids);
    else
      update checkpoint_heads h set checkpoint_id = v_chain.before
      where h.thread_id = p_thread_id and h.checkpoint_ns = v_chain.checkpoint_ns and h.checkpoint_id = any (v_chain.ids);
    end if;
  end loop;
  delete from runs r where r.run_id = p_run_id;
  return 'deleted';
end
$$;
