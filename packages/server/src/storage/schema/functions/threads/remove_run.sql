-- The run's row and its checkpoints, and no others: what came after them hangs on what came before.
create or replace function remove_run(p_run_id uuid, p_thread_id uuid) returns void
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
