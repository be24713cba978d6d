-- Deletes the writes of a run on checkpoints of others, and restores the values that they replaced. Without p_results, only control writes
-- (negative idx: error, interrupt, resume) are deleted, and results of finished tasks stay. Returns how many were deleted.
create or replace function undo_run_writes(p_run_id uuid, p_thread_id uuid, p_results boolean) returns integer
language plpgsql as $$
declare
  v_write checkpoint_writes%rowtype;
  v_count integer := 0;
begin
  delete from replaced_writes v where v.thread_id = p_thread_id and v.run_id = p_run_id;
  for v_write in
    delete from checkpoint_writes w
    where w.run_id = p_run_id and w.thread_id = p_thread_id and (p_results or w.idx < 0)
    returning w.*
  loop
    v_count := v_count + 1;
    with newest as (
      select v.version from replaced_writes v
      where v.thread_id = p_thread_id and v.checkpoint_ns = v_write.checkpoint_ns
        and v.checkpoint_id = v_write.checkpoint_id and v.task_id = v_write.task_id and v.idx = v_write.idx
      order by v.version desc limit 1
    ), brought_back as (
      delete from replaced_writes v using newest n
      where v.thread_id = p_thread_id and v.checkpoint_ns = v_write.checkpoint_ns
        and v.checkpoint_id = v_write.checkpoint_id and v.task_id = v_write.task_id and v.idx = v_write.idx
        and v.version = n.version
      returning v.*
    )
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, task_path, ref, run_id)
    select b.thread_id, b.checkpoint_ns, b.checkpoint_id, b.task_id, b.idx, b.channel, b.task_path, b.ref, b.run_id
    from brought_back b;
  end loop;
  return v_count;
end
$$;
