-- Creates a run, and its thread if requested. `outcome` is 'created', 'exists' (a keyed run exists already), or why no run was created:
-- 'no_assistant', 'no_thread', 'busy', 'no_graph' (no worker executes the graph), 'answered' (the thread does not wait in the state of
-- answered_state_at any more, or another run of the thread is in flight), 'outside' (the created thread or run would not pass `access`); and for an
-- input of another run: 'no_run', 'asked' (the thread waits for an answer, which a run with the input would supersede) or 'full'.
-- `stopping`: running runs that are cancelled in favour of this one.
create or replace function create_run(p_run new_run, p_kwargs text) returns table (
  outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamptz,
  graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
  blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, has_inputs boolean, stopping uuid[])
language plpgsql set enable_seqscan = off as $$
declare
  v_assistant assistants%rowtype;
  v_thread threads%rowtype;
  v_run runs%rowtype;
  v_temporary boolean := p_run.thread_id is null;
  v_claim boolean := p_run.claim;
  v_is_new boolean := false;
  v_is_behind boolean := false;
  v_is_watched boolean := false;
  v_named jsonb;
  v_stopping uuid[] := '{}';
  v_at timestamptz;
begin
  -- Requests for the same run (same key, or a repeated request) wait until the run is visible. For a run on a thread without a key, the
  -- thread's lock does the same.
  if p_run.keyed or v_temporary then
    perform pg_advisory_xact_lock(hashtextextended('run ' || p_run.run_id, 0));
  end if;
  -- The share lock makes a deletion of the assistant wait until the run is visible.
  select * into v_assistant from assistants a
  where a.assistant_id = p_run.assistant_id and a.metadata @@ p_run.assistant_access for key share;
  if not found then
    outcome := 'no_assistant';
    return next;
    return;
  end if;

  if p_run.graphs is not null and v_assistant.graph_id <> all (p_run.graphs) then
    if not is_graph_served(v_assistant.graph_id, p_run.served_within)
       and not (p_run.keyed and exists (select 1 from runs r where r.run_id = p_run.run_id)) then
      outcome := 'no_graph';
      graph_id := v_assistant.graph_id;
      return next;
      return;
    end if;
    v_claim := false;
  end if;

  v_named := jsonb_build_object('graph_id', v_assistant.graph_id, 'assistant_id', p_run.assistant_id);
  if not v_temporary then
    -- Repeated when another transaction creates the thread first, or creates and deletes it.
    loop
      select * into v_thread from threads t where t.thread_id = p_run.thread_id for update;
      exit when found;
      if not p_run.create_thread or is_of_lone_run(p_run.thread_id) then
        outcome := 'no_thread';
        return next;
        return;
      end if;
      if (p_run.metadata || v_named) @@ p_run.access is not true then
        outcome := 'outside';
        return next;
        return;
      end if;
      if p_run.keyed then
        -- Repeated requests for a run with a new thread have different thread ids; the run is on the thread of the first request.
        select r.thread_id into thread_id from runs r where r.run_id = p_run.run_id;
        if found then
          outcome := 'exists';
          return next;
          return;
        end if;
      end if;
      -- With the status and metadata that the run gives it: the update below is only for existing threads.
      insert into threads (thread_id, blob_space, status, metadata)
      values (p_run.thread_id, p_run.thread_id, 'busy', p_run.metadata || v_named)
      on conflict do nothing returning * into v_thread;
      v_is_new := found;
      exit when v_is_new;
    end loop;
    if v_thread.metadata @@ p_run.access is not true then
      outcome := 'no_thread';
      return next;
      return;
    end if;
  elsif p_run.metadata @@ p_run.access is not true then
    outcome := 'outside';
    return next;
    return;
  end if;
  if p_run.keyed then
    select * into v_run from runs r where r.run_id = p_run.run_id;
    if found then
      outcome := 'exists';
      thread_id := v_run.thread_id;
      return next;
      return;
    end if;
  end if;
  if p_run.answered_state_at is not null
     and (v_thread.status <> 'interrupted' or date_trunc('milliseconds', v_thread.state_updated_at) <> p_run.answered_state_at) then
    outcome := 'answered';
    return next;
    return;
  end if;
  if p_run.input_of is not null then
    outcome := case
      when not exists (select 1 from runs r where r.run_id = p_run.input_of and r.thread_id = p_run.thread_id) then 'no_run'
      when not is_thread_taken(p_run.thread_id) and awaits_answer(p_run.thread_id) then 'asked'
      when (select count(*) from (select 1 from runs r where r.thread_id = p_run.thread_id and r.status = 'pending' and r.input_of is not null
                                  limit p_run.inputs_max) i) >= p_run.inputs_max then 'full'
      end;
    if outcome is not null then
      return next;
      return;
    end if;
  end if;
  if not v_temporary and not v_is_new
     and exists (select 1 from runs r where r.thread_id = p_run.thread_id and r.status in ('pending', 'running')
                 and r.waits_for is distinct from 'answer') then
    if p_run.multitask_strategy = 'reject' then
      outcome := 'busy';
      return next;
      return;
    elsif p_run.multitask_strategy in ('interrupt', 'rollback') then
      select coalesce(array_agg(s.run_id) filter (where s.outcome = 'stopping'), '{}') into v_stopping
      from stop_runs(p_run.thread_id, null, p_run.multitask_strategy, format('superseded by run %s', p_run.run_id)) s;
    end if;
    v_is_behind := is_thread_taken(p_run.thread_id);
    v_claim := v_claim and not v_is_behind;
  end if;
  v_claim := v_claim and not is_run_ready(p_run.graphs);
  v_is_watched := coalesce(v_thread.watched_until > now(), false);
  v_at := clock_timestamp(); -- not now(): runs of a thread are ordered by when they got its lock

  insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, log, webhook,
                    attempt, lease_token, lease_until, worker_id, started_at, not_before, created_at,
                    found_head, found_status, found_interrupts, found_error, found_by, graph_id, owner_hash, waits_for, first_seq,
                    input_of)
  select p_run.run_id, coalesce(p_run.thread_id, gen_random_uuid()), p_run.assistant_id,
          case when v_claim then 'running' else 'pending' end, p_run.metadata, p_kwargs, p_run.multitask_strategy, v_temporary,
          case when p_run.resumable or v_is_watched then 'events' when v_claim then 'nothing' else p_run.log end, p_run.webhook,
          v_claim::integer, v_claim::integer, case when v_claim then now() + p_run.lease end,
          case when v_claim then p_run.worker_id end, case when v_claim then v_at end,
          now() + p_run.delay, v_at,
          f.head, f.status, f.interrupts, f.error, f.settled_by, v_assistant.graph_id, run_owner(p_run.metadata, v_thread.metadata),
          case when v_claim then null when p_run.delay > interval '0' then 'time' when v_is_behind then 'thread' else 'slot' end,
          case when v_claim then new_first_seq(p_run.thread_id) end, p_run.input_of
  from (select) as s
  left join find_settled(case when v_claim then p_run.thread_id end) f on true
  returning * into v_run;
  if p_run.sealed_user is not null then insert into run_users values (p_run.run_id, p_run.sealed_user); end if;

  if not v_temporary and not v_is_new then
    update threads t
    set status = 'busy', updated_at = now(), metadata = t.metadata || v_named
    where t.thread_id = p_run.thread_id
    returning * into v_thread;
  end if;
  if v_is_watched then perform pg_notify('svc', 't:' || p_run.thread_id); end if;
  if p_run.input_of is not null and v_is_behind then
    perform pg_notify('svc', 'i:' || r.run_id) from runs r where r.thread_id = p_run.thread_id and r.status = 'running';
  end if;
  if not v_claim and not v_is_behind and p_run.delay <= interval '0' then perform pg_notify('svc', 'p'); end if;

  return query select 'created', v_run.thread_id, v_run.status, v_run.lease_token, v_run.created_at,
    v_assistant.graph_id, v_assistant.config, v_assistant.context, v_assistant.metadata,
    v_thread.blob_space, v_thread.config, v_thread.metadata,
    (select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_run.thread_id and h.checkpoint_ns = ''),
    v_run.log, v_claim and exists (select 1 from runs i where i.thread_id = p_run.thread_id and i.status = 'pending' and i.input_of is not null), v_stopping;
end
$$;
