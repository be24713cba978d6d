-- Restores the state of a thread that a run found, if the thread has the state that the run left: the run's end set it, or the head was one
-- of its checkpoints (p_moved). If pruning has deleted the head that the run found, the newest checkpoint decides.
create or replace function unsettle_thread(p_thread_id uuid, p_run runs, p_moved boolean) returns void
language plpgsql as $$
declare
  v_head uuid;
begin
  select h.checkpoint_id into v_head from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = '';
  if p_moved and v_head is distinct from p_run.found_head then
    update threads t
    set settled_by = null, settled_status = stored_status(p_thread_id), interrupts = '{}', error = null
    where t.thread_id = p_thread_id;
    return;
  end if;
  update threads t
  set settled_by = p_run.found_by, settled_status = p_run.found_status, interrupts = p_run.found_interrupts,
      error = p_run.found_error
  where t.thread_id = p_thread_id and (p_moved or t.settled_by = p_run.run_id);
end
$$;
