-- The life of a run. Decisions that must see the newest rows after waiting for a lock live in functions: each
-- statement of a function takes a fresh snapshot, and the whole decision costs one round trip.
--
-- Locks are taken in the order run, thread. The exception is who decides for a whole thread (create_run,
-- cancel_runs): it holds the thread, and of the runs there locks only pending ones, which no flush ever locks.
--
-- Processes are woken by the channel 'svc': 'p' there is a run to claim, 'e:<run>' its log has grown or it is
-- over, 'l:<run>' somebody elsewhere listens, 'c:<run>' it shall stop, 't:<thread>' a run was made on a thread
-- that is watched, 'w' a webhook is to be sent. All of them are hints; polls find what a lost one would have said.

-- Whether the id stands for a run without a thread, or for what is left to tell of one: nobody may make a thread of it, or
-- it would be theirs to read and to stop. One snapshot: a thread and its first run, made a moment ago, are seen both or not
-- at all.
create function is_of_lone_run(p_thread_id uuid) returns boolean
language sql stable as $$
  select not exists (select 1 from threads t where t.thread_id = p_thread_id)
    and (exists (select 1 from runs r where r.thread_id = p_thread_id)
         or exists (select 1 from webhook_deliveries w where w.thread_id = p_thread_id))
$$;

-- Inserts a run, creating its thread if asked; `outcome` tells why there is none: no_assistant, no_thread, busy, outside.
-- p_access is what the thread must pass (a temporary run itself: it has none), p_assistant_access the assistant; what they
-- do not let through is not there, and what would be made outside of them is not made.
-- With `claim`, and nothing before it on the thread, the run starts out running under the caller's lease.
-- Without a thread id the run is temporary: no thread, no checkpoints, and the row goes when it ends.
-- A keyed run that is there already is returned with the outcome 'exists'.
-- `log` says what others are told of a run that does not start here; stream_resumable runs pass 'events' in p_log
-- and true in p_resumable. `stopping` are the runs that make way for this one.
create function create_run(
  p_run_id uuid, p_thread_id uuid, p_assistant_id uuid, p_metadata jsonb, p_kwargs text, p_strategy text,
  p_create_thread boolean, p_claim boolean, p_lease interval, p_delay interval,
  p_worker_id uuid default null, p_log text default 'nothing', p_resumable boolean default false,
  p_webhook text default null, p_keyed boolean default false,
  p_access jsonpath default 'strict 1 == 1', p_assistant_access jsonpath default 'strict 1 == 1',
  p_sealed_user text default null
) returns table (outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamptz,
                 graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
                 blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, stopping uuid[])
language plpgsql as $$
declare
  v_assistant assistants%rowtype;
  v_thread threads%rowtype;
  v_run runs%rowtype;
  v_temporary boolean := p_thread_id is null;
  v_claim boolean := p_claim;
  v_is_new boolean := false;
  v_is_behind boolean := false;
  v_is_watched boolean := false;
  v_named jsonb;
  v_stopping uuid[] := '{}';
begin
  -- Who asks for the same run meanwhile, by its key or because no answer came, waits until it can be seen. For a run on a
  -- thread that was given no key, the lock of the thread does that.
  if p_keyed or v_temporary then
    perform pg_advisory_xact_lock(hashtextextended('run ' || p_run_id, 0));
  end if;
  -- The share lock keeps whoever deletes the assistant waiting until the run is there to be seen.
  select * into v_assistant from assistants a
  where a.assistant_id = p_assistant_id and a.metadata @@ p_assistant_access for key share;
  if not found then
    outcome := 'no_assistant';
    return next;
    return;
  end if;

  v_named := jsonb_build_object('graph_id', v_assistant.graph_id, 'assistant_id', p_assistant_id);
  if not v_temporary then
    -- Again when another makes the thread first, or makes and deletes it.
    loop
      select * into v_thread from threads t where t.thread_id = p_thread_id for update;
      exit when found;
      if not p_create_thread or is_of_lone_run(p_thread_id) then
        outcome := 'no_thread';
        return next;
        return;
      end if;
      if (p_metadata || v_named) @@ p_access is not true then
        outcome := 'outside';
        return next;
        return;
      end if;
      if p_keyed then
        -- Each request for a run that brings its thread with it names another one: the run is on that of the first.
        select r.thread_id into thread_id from runs r where r.run_id = p_run_id;
        if found then
          outcome := 'exists';
          return next;
          return;
        end if;
      end if;
      -- As the run will leave it: the update below is for threads that were there before.
      insert into threads (thread_id, blob_space, status, metadata)
      values (p_thread_id, p_thread_id, 'busy', p_metadata || v_named)
      on conflict do nothing returning * into v_thread;
      v_is_new := found;
      exit when v_is_new;
    end loop;
    if v_thread.metadata @@ p_access is not true then
      outcome := 'no_thread';
      return next;
      return;
    end if;
  elsif p_metadata @@ p_access is not true then
    outcome := 'outside';
    return next;
    return;
  end if;
  if p_keyed then
    select * into v_run from runs r where r.run_id = p_run_id;
    if found then
      outcome := 'exists';
      thread_id := v_run.thread_id;
      return next;
      return;
    end if;
  end if;
  if not v_temporary and not v_is_new
     and exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    if p_strategy = 'reject' then
      outcome := 'busy';
      return next;
      return;
    elsif p_strategy in ('interrupt', 'rollback') then
      select coalesce(array_agg(s.run_id) filter (where s.outcome = 'stopping'), '{}') into v_stopping
      from stop_runs(p_thread_id, null, p_strategy, format('superseded by run %s', p_run_id)) s;
      v_is_behind := exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running'));
    else
      v_is_behind := true;
    end if;
    v_claim := v_claim and not v_is_behind;
  end if;
  v_is_watched := coalesce(v_thread.watched_until > now(), false);

  insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, multitask_strategy, temporary, log, webhook,
                    attempt, lease_token, lease_until, worker_id, started_at, not_before, created_at)
  values (p_run_id, coalesce(p_thread_id, gen_random_uuid()), p_assistant_id,
          case when v_claim then 'running' else 'pending' end, p_metadata, p_kwargs, p_strategy, v_temporary,
          case when p_resumable or v_is_watched then 'events' when v_claim then 'nothing' else p_log end, p_webhook,
          v_claim::integer, v_claim::integer, case when v_claim then now() + p_lease end,
          case when v_claim then p_worker_id end, case when v_claim then now() end,
          now() + p_delay, clock_timestamp()) -- not now(): the order of a thread's runs is the order of its lock
  returning * into v_run;
  if p_sealed_user is not null then insert into run_users values (p_run_id, p_sealed_user); end if;

  if not v_temporary and not v_is_new then
    update threads t
    set status = 'busy', updated_at = now(), metadata = t.metadata || v_named
    where t.thread_id = p_thread_id
    returning * into v_thread;
  end if;
  if v_is_watched then perform pg_notify('svc', 't:' || p_thread_id); end if;
  if not v_claim and not v_is_behind and p_delay <= interval '0' then perform pg_notify('svc', 'p'); end if;

  return query select 'created', v_run.thread_id, v_run.status, v_run.lease_token, v_run.created_at,
    v_assistant.graph_id, v_assistant.config, v_assistant.context, v_assistant.metadata,
    v_thread.blob_space, v_thread.config, v_thread.metadata,
    (select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = ''),
    v_run.log, v_stopping;
end
$$;

-- Takes up to p_count runs that may start: pending and due, first on their thread, or running under a lease that
-- has ended. Those that shall stop, or whose attempts are used up, end instead and are returned with that status.
create function claim_runs(p_count integer, p_worker_id uuid, p_lease interval, p_attempts integer)
returns setof runs
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_cancelled boolean;
begin
  for v_run in
    with lost as (
      select r.* from runs r where r.status = 'running' and r.lease_until < now()
      order by r.run_id limit p_count for update skip locked
    ), ready as (
      select r.* from runs r
      where r.status = 'pending' and r.not_before <= now()
        and not exists (
          select 1 from runs o
          where o.thread_id = r.thread_id and o.run_id <> r.run_id
            and (o.status = 'running'
                 or (o.status = 'pending' and (o.created_at, o.run_id) < (r.created_at, r.run_id)
                     and o.not_before <= now())))
      order by r.not_before, r.created_at limit p_count for update skip locked
    )
    select * from (select * from lost union all select * from ready) r limit p_count
  loop
    if v_run.status = 'running' then
      v_run.lost_attempts := v_run.lost_attempts || jsonb_build_object(
        'attempt', v_run.attempt, 'at', now(), 'message', 'Its worker was lost: the lease was not renewed');
      update runs r set lost_attempts = v_run.lost_attempts where r.run_id = v_run.run_id;
    end if;
    v_cancelled := exists (select 1 from run_cancels c where c.run_id = v_run.run_id);
    if v_cancelled or v_run.attempt >= p_attempts then
      v_run.status := case when v_cancelled then 'interrupted' else 'error' end;
      v_run.error := case when v_cancelled then null else json_build_object('error', 'AttemptsExhausted', 'message',
        format('The run was given up after %s attempts. The last one: %s', v_run.attempt,
               coalesce(v_run.lost_attempts -> -1 ->> 'message', 'it was lost')))::text end;
      update runs r set lease_token = r.lease_token + 1 where r.run_id = v_run.run_id;
      perform end_run(v_run.run_id, v_run.status, case when v_cancelled then 'as_stored' else 'error' end, null, v_run.error, null);
    else
      begin
        update runs r
        set status = 'running', attempt = r.attempt + 1, lease_token = r.lease_token + 1, worker_id = p_worker_id,
            lease_until = now() + p_lease, started_at = now(), updated_at = now()
        where r.run_id = v_run.run_id returning * into v_run;
      exception when unique_violation then
        continue; -- another worker started a run on this thread a moment ago
      end;
      update threads t set status = 'busy' where t.thread_id = v_run.thread_id and t.status <> 'busy';
    end if;
    return next v_run;
  end loop;
end
$$;

-- Gives runs back before their leases end. With a charge the attempt counts as lost, for the reason given;
-- without one it was no fault of the run, and does not count.
create function release_runs(p_run_ids uuid[], p_lease_tokens bigint[], p_charge boolean, p_reason text) returns void
language plpgsql as $$
begin
  perform 1 from runs r join unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
    on r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'
  order by r.run_id for update of r;
  update runs r
  set status = 'pending', lease_until = null, worker_id = null, updated_at = now(),
      attempt = case when p_charge then r.attempt else r.attempt - 1 end,
      lost_attempts = case when p_charge then r.lost_attempts ||
        jsonb_build_object('attempt', r.attempt, 'at', now(), 'message', p_reason) else r.lost_attempts end
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running';
  if found then perform pg_notify('svc', 'p'); end if;
end
$$;

-- Ends a run: its row, its thread, its log, its webhook. A wish to cancel it that came in time is honoured here:
-- rollback takes away what the run has left. The caller has made sure that it may (a lease, or the row's lock).
-- p_ending is what the thread becomes: error, interrupted, null for neither, 'as_stored' when that has to be read
-- from its newest checkpoint. p_told: the log has the error already.
create function end_run(p_run_id uuid, p_status text, p_ending text, p_interrupts text, p_error text, p_values text,
                        p_told boolean default false) returns void
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_action text;
  v_next integer;
  v_tells boolean := p_error is not null and not p_told;
begin
  update runs r set status = p_status, error = p_error, lease_until = null, updated_at = now(),
    -- As only the run itself moves it, until this is committed.
    final_head = (select h.checkpoint_id from checkpoint_heads h
                  where h.thread_id = r.thread_id and h.checkpoint_ns = '' and r.attempt > 0)
  where r.run_id = p_run_id returning * into v_run;
  if not v_run.temporary then
    perform 1 from threads t where t.thread_id = v_run.thread_id for update;
  end if;
  -- Under the thread's lock: who wants it cancelled has said so by now, or will find it ended.
  delete from run_cancels c where c.run_id = p_run_id returning c.action into v_action;
  delete from run_users u where u.run_id = p_run_id;
  if v_run.webhook is not null then perform queue_webhook(p_run_id, p_values); end if;
  if v_run.log <> 'nothing' then
    select coalesce(max(e.last_id) + 1, 0) into v_next from run_events e where e.run_id = p_run_id;
    insert into run_events (run_id, first_id, last_id, events, outcome)
    values (p_run_id, v_next, v_next - 1 + v_tells::integer,
            case when v_tells then E'error\n' || p_error || E'\n' else '' end,
            json_build_object('status', p_status, 'error', p_error, 'values', p_values)::text)
    on conflict (run_id, first_id, last_id) do update set events = excluded.events, outcome = excluded.outcome;
    perform pg_notify('svc', 'e:' || p_run_id);
  end if;
  if v_run.temporary then
    -- One with a log stays as long as that: it can still be joined.
    if v_run.log = 'nothing' then delete from runs r where r.run_id = p_run_id; end if;
    return;
  end if;
  if v_action = 'rollback' then
    perform remove_run(p_run_id, v_run.thread_id);
    perform restore_thread(v_run.thread_id, false);
  elsif p_ending = 'as_stored' then
    perform restore_thread(v_run.thread_id, v_run.attempt > 0);
  else
    perform settle_thread(v_run.thread_id, p_ending, p_interrupts, p_error);
  end if;
  if exists (select 1 from runs r where r.thread_id = v_run.thread_id and r.status = 'pending') then
    perform pg_notify('svc', 'p');
  end if;
end
$$;

-- The thread after a run: error, else interrupted, else busy while other runs wait, else idle.
create function settle_thread(p_thread_id uuid, p_ending text, p_interrupts text, p_error text) returns void
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

-- The thread as its newest checkpoint has it. Until a run ends, interrupts and error are those of the run before it:
-- they stand when the last one has gone without a trace, and are over when it had begun.
create function restore_thread(p_thread_id uuid, p_begun boolean) returns void
language sql as $$
  update threads t
  set status = case
        when exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then 'busy'
        when t.error is not null and not p_begun then 'error'
        when (select json_array_length(c.shape::json -> 'tasks') from checkpoint_heads h
              join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
              where h.thread_id = p_thread_id and h.checkpoint_ns = '') > 0 then 'interrupted'
        else 'idle' end,
      interrupts = case when p_begun then '{}' else t.interrupts end,
      error = case when p_begun then null else t.error end,
      updated_at = now()
  where t.thread_id = p_thread_id
$$;

-- Stops runs in flight on a thread whose lock the caller holds: all of them, or those named. A pending one ends at
-- once; one that runs is told to stop, and ends when its worker has stopped it. `outcome`: ended, stopping, over.
create function stop_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text)
returns table (run_id uuid, outcome text)
language plpgsql as $$
declare
  v_run record;
  v_ended uuid[] := '{}';
begin
  for v_run in
    select r.run_id from runs r
    where r.thread_id = p_thread_id and r.status = 'pending' and (p_run_ids is null or r.run_id = any (p_run_ids))
    order by r.created_at, r.run_id for update
  loop
    insert into run_cancels values (v_run.run_id, p_action, p_reason)
    on conflict on constraint run_cancels_pkey do update set action = excluded.action, reason = excluded.reason;
    perform end_run(v_run.run_id, 'interrupted', 'as_stored', null, null, null);
    v_ended := v_ended || v_run.run_id;
    run_id := v_run.run_id;
    outcome := 'ended';
    return next;
  end loop;
  for v_run in
    select r.run_id, r.status from runs r
    where r.thread_id = p_thread_id and r.run_id <> all (v_ended)
      and (r.run_id = any (p_run_ids) or (p_run_ids is null and r.status in ('pending', 'running')))
  loop
    run_id := v_run.run_id;
    outcome := 'over';
    if v_run.status in ('pending', 'running') then
      -- A wish to roll back is not taken back by one to interrupt.
      insert into run_cancels values (v_run.run_id, p_action, p_reason)
      on conflict on constraint run_cancels_pkey do update set action = excluded.action, reason = excluded.reason
      where run_cancels.action <> 'rollback';
      perform pg_notify('svc', 'c:' || v_run.run_id);
      outcome := 'stopping';
    end if;
    return next;
  end loop;
end
$$;

-- Cancels runs of one thread, named or all in flight. Returns nothing at all when one that is named is not there, or
-- the thread (or a run without one) does not pass p_access.
create function cancel_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text,
                            p_access jsonpath default 'strict 1 == 1')
returns table (run_id uuid, outcome text)
language plpgsql as $$
declare
  v_metadata jsonb;
begin
  select t.metadata into v_metadata from threads t where t.thread_id = p_thread_id for update;
  if not found then
    -- Runs without a thread: their rows take its place.
    perform 1 from runs r where r.thread_id = p_thread_id order by r.run_id for update;
    if exists (select 1 from runs r where r.thread_id = p_thread_id and (r.metadata @@ p_access) is not true) then return; end if;
  elsif v_metadata @@ p_access is not true then
    return;
  end if;
  if (select count(*) from runs r where r.thread_id = p_thread_id and r.run_id = any (p_run_ids))
     < cardinality(p_run_ids) then
    return;
  end if;
  return query select * from stop_runs(p_thread_id, p_run_ids, p_action, p_reason);
end
$$;

-- Somebody beside the process that executes it wants to know of a run from now on; p_next_id is the id that its next
-- event shall have at least, where some were told that no log has. Returns its status; null when there is no such run.
create function follow_run(p_run_id uuid, p_log text, p_next_id integer) returns text
language plpgsql as $$
declare
  v_run runs%rowtype;
begin
  if p_next_id > 0 then
    -- Held, or it could be deleted meanwhile, and nothing would ever remove what its log begins with. By the lock of the update
    -- below: flushes hold the row too, and two that first share it and then change it wait for each other.
    perform 1 from runs r where r.run_id = p_run_id for no key update;
  end if;
  select * into v_run from runs r where r.run_id = p_run_id;
  if not found or v_run.status not in ('pending', 'running') then return v_run.status; end if;
  if p_next_id > 0 then
    insert into run_events (run_id, first_id, last_id, events) values (p_run_id, p_next_id, p_next_id - 1, '')
    on conflict do nothing;
  end if;
  if v_run.log in ('events', p_log) or p_log = 'nothing' then return v_run.status; end if;
  update runs r set log = p_log
  where r.run_id = p_run_id and r.status in ('pending', 'running') and r.log <> 'events'
  returning * into v_run;
  if found then
    -- Who only waits for the outcome is told by it, except that values without a thread must be kept.
    if p_log = 'events' or v_run.temporary then perform pg_notify('svc', 'l:' || p_run_id); end if;
    return v_run.status;
  end if;
  return (select r.status from runs r where r.run_id = p_run_id);
end
$$;
