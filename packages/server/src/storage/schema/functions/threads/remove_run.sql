-- Deletes a run with all of its effects on the thread: its checkpoints, and its writes on checkpoints of others. Children of its checkpoints
-- get the checkpoint before them as parent. Where the thread or a later run has the state that this run left, it gets the state that
-- this run found. The caller sets the status of the thread (restore_thread).
create or replace function remove_run(p_run_id uuid, p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_chain record;
  v_found uuid;
  -- Its checkpoints in the root namespace.
  v_root uuid[] := '{}';
  v_head uuid;
begin
  select * into v_run from runs r where r.run_id = p_run_id;
  select h.checkpoint_id into v_head from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = '';
  if undo_run_writes(p_run_id, p_thread_id, true) > 0 then perform note_removals(array[p_thread_id]); end if;
  for v_chain in
    select c.checkpoint_ns, array_agg(c.checkpoint_id) as ids,
           (array_agg(c.parent_id order by c.checkpoint_id))[1] as before,
           (array_agg(c.found_head order by c.checkpoint_id) filter (where c.found_head is not null))[1] as found
    from checkpoints c where c.thread_id = p_thread_id and c.run_id = p_run_id
    group by c.checkpoint_ns
  loop
    delete from replaced_writes v
    where v.thread_id = p_thread_id and v.checkpoint_ns = v_chain.checkpoint_ns and v.checkpoint_id = any (v_chain.ids);
    delete from checkpoint_writes w
    where w.thread_id = p_thread_id and w.checkpoint_ns = v_chain.checkpoint_ns and w.checkpoint_id = any (v_chain.ids);
    delete from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = v_chain.checkpoint_ns and c.checkpoint_id = any (v_chain.ids);
    if v_chain.checkpoint_ns = '' then
      v_root := v_chain.ids;
      v_found := v_run.found_head;
    else
      v_found := v_chain.found;
    end if;
    update checkpoints c
    set parent_id = case when c.parent_id = any (v_chain.ids) then v_chain.before else c.parent_id end,
        found_head = case when c.found_head = any (v_chain.ids) then v_found else c.found_head end
    where c.thread_id = p_thread_id and c.checkpoint_ns = v_chain.checkpoint_ns
      and (c.parent_id = any (v_chain.ids) or c.found_head = any (v_chain.ids));
    perform restore_head(p_thread_id, v_chain.checkpoint_ns, v_chain.ids, v_found);
  end loop;

  if v_run.found_status is not null then
    update runs r
    set found_head = v_run.found_head, found_status = v_run.found_status, found_interrupts = v_run.found_interrupts,
        found_error = v_run.found_error,
        found_by = case when r.found_by = p_run_id then v_run.found_by else r.found_by end
    where r.thread_id = p_thread_id and r.run_id <> p_run_id and r.found_status is not null
      and (r.found_by = p_run_id or r.found_head = any (v_root));
    perform unsettle_thread(p_thread_id, v_run, coalesce(v_head = any (v_root), false));
  end if;
  delete from runs r where r.run_id = p_run_id;
end
$$;
