-- Deletes up to p_count rows of a thread's state, heads first. Returns how many; fewer than p_count when none are left.
-- Deletes in index order, because a sequential scan would visit the dead rows of all earlier batches. Uses custom plans, because a generic
-- plan sorts all rows of the thread first.
create or replace function delete_state(p_thread_id uuid, p_count integer) returns integer
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_left integer := p_count;
  v_removed integer;
begin
  delete from checkpoint_heads h where h.ctid = any (array(
    select o.ctid from checkpoint_heads o where o.thread_id = p_thread_id order by o.checkpoint_ns limit v_left));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  delete from replaced_writes v where v.ctid = any (array(
    select o.ctid from replaced_writes o where o.thread_id = p_thread_id
    order by o.checkpoint_ns, o.checkpoint_id, o.task_id, o.idx, o.version limit v_left));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  delete from checkpoint_writes w where w.ctid = any (array(
    select o.ctid from checkpoint_writes o where o.thread_id = p_thread_id
    order by o.checkpoint_ns, o.checkpoint_id, o.task_id, o.idx limit v_left));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  delete from checkpoints c where c.ctid = any (array(
    select o.ctid from checkpoints o where o.thread_id = p_thread_id
    order by o.checkpoint_ns, o.checkpoint_id limit v_left));
  get diagnostics v_removed = row_count;
  return p_count - v_left + v_removed;
end
$$;
