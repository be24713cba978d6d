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

-- False when there was no such thread, or it does not pass p_access: then nothing has changed. Runs first: that waits for
-- flushes which hold them, and whose checkpoints the statements after it then see. Run before thread is also the order in
-- which a flush locks; among the runs of a thread the oldest is the first, since one that is made meanwhile is the last (and
-- where two deletions still wait for each other, one is tried again). Who follows one of the runs is told that it is gone.
create function delete_thread(p_thread_id uuid, p_access jsonpath default 'strict 1 == 1') returns boolean
language plpgsql as $$
begin
  if not exists (select 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access) then return false; end if;
  perform 1 from runs r where r.thread_id = p_thread_id order by r.created_at, r.run_id for update;
  -- While that waited, the thread may have gone, and come again as somebody else's.
  perform 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access for update;
  if not found then return false; end if;
  perform remove_runs(p_thread_id); -- those too that were made before the thread was locked
  perform delete_checkpoints(p_thread_id);
  delete from threads t where t.thread_id = p_thread_id;
  return found;
end
$$;

-- The rows of runs first, which waits for flushes that hold them; what these have written, the next statement sees.
create function remove_runs(p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_gone uuid[];
begin
  with gone as (
    delete from runs r where r.thread_id = p_thread_id returning r.run_id, r.status
  ), told as (
    select g.run_id, case when g.status not in ('pending', 'running') then null
      else pg_notify('svc', case when g.status = 'running' then 'c:' else 'e:' end || g.run_id) end
    from gone g
  )
  select coalesce(array_agg(t.run_id), '{}') into v_gone from told t;
  delete from run_cancels c where c.run_id = any (v_gone);
  delete from run_users u where u.run_id = any (v_gone);
  delete from run_events e where e.run_id = any (v_gone);
  delete from webhook_deliveries w where w.thread_id = p_thread_id;
end
$$;

-- A new thread with the same history at the cost of references; `outside` when it would not pass p_copy_access.
-- One statement, hence one snapshot: a run that writes meanwhile is in the copy up to one checkpoint, not in parts.
create function copy_thread(p_source uuid, p_copy uuid, p_metadata jsonb, p_access jsonpath, p_copy_access jsonpath)
returns text
language plpgsql as $$
declare
  v_metadata jsonb;
begin
  select t.metadata into v_metadata from threads t where t.thread_id = p_source and t.metadata @@ p_access for share;
  if not found then return 'missing'; end if;
  if (v_metadata || p_metadata) @@ p_copy_access is not true then return 'outside'; end if;
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
  return 'copied';
end
$$;

-- Removes a run that is over, and the checkpoints that it made. What another has stored after these must be seen, to be put
-- after what was before them: so no flush may be open. One that is open holds its run, for which we wait before we lock the
-- thread, as flushes do; one that begins later stops at the heads. A flush may have got there first when its run was not
-- running at our first look: it wants the thread at its end, so we let go of everything, and wait for that run too.
create function delete_run(p_run_id uuid, p_thread_id uuid, p_access jsonpath) returns text
language plpgsql as $$
declare
  v_status text;
begin
  loop
    begin
      with held as (
        select r.run_id, r.status from runs r
        where r.run_id = any (array[p_run_id,
            (select o.run_id from runs o where o.thread_id = p_thread_id and o.status = 'running')])
          and r.thread_id = p_thread_id
          and case when r.temporary then r.metadata @@ p_access
              else exists (select 1 from threads t where t.thread_id = r.thread_id and t.metadata @@ p_access) end
        order by r.created_at, r.run_id for update
      )
      select max(h.status) filter (where h.run_id = p_run_id) into v_status from held h;
      if v_status is null then return 'missing'; end if;
      if v_status in ('pending', 'running') then return 'in_flight'; end if;
      perform 1 from threads t where t.thread_id = p_thread_id for update;
      perform 1 from checkpoint_heads h where h.thread_id = p_thread_id for update nowait;
      exit;
    exception when lock_not_available then null; -- again, until the time of the statement is over
    end;
  end loop;
  perform remove_run(p_run_id, p_thread_id);
  delete from run_events e where e.run_id = p_run_id;
  delete from webhook_deliveries w where w.run_id = p_run_id;
  return 'deleted';
end
$$;

-- The run's row and its checkpoints, and no others: what came after them hangs on what came before.
create function remove_run(p_run_id uuid, p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_chain record;
  v_newest uuid;
begin
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
    -- The head as it was before: not always where the run began, which may have been an earlier checkpoint.
    select c.checkpoint_id into v_newest from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = v_chain.checkpoint_ns order by c.checkpoint_id desc limit 1;
    if v_newest is null then
      delete from checkpoint_heads h
      where h.thread_id = p_thread_id and h.checkpoint_ns = v_chain.checkpoint_ns and h.checkpoint_id = any (v_chain.ids);
    else
      update checkpoint_heads h set checkpoint_id = v_newest
      where h.thread_id = p_thread_id and h.checkpoint_ns = v_chain.checkpoint_ns and h.checkpoint_id = any (v_chain.ids);
    end if;
  end loop;
  delete from runs r where r.run_id = p_run_id;
end
$$;
