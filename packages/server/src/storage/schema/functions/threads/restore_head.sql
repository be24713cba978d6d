-- Moves the head of a namespace away from deleted checkpoints: to the head that their run found, or, when that is unknown or deleted, to the
-- newest remaining checkpoint.
create or replace function restore_head(p_thread_id uuid, p_checkpoint_ns text, p_removed uuid[], p_found uuid)
returns void
language plpgsql as $$
declare
  v_head uuid;
begin
  select c.checkpoint_id into v_head from checkpoints c
  where c.thread_id = p_thread_id and c.checkpoint_ns = p_checkpoint_ns and c.checkpoint_id = p_found;
  if v_head is null then
    select c.checkpoint_id into v_head from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = p_checkpoint_ns
    order by c.checkpoint_id desc limit 1;
  end if;
  if v_head is null then
    delete from checkpoint_heads h
    where h.thread_id = p_thread_id and h.checkpoint_ns = p_checkpoint_ns and h.checkpoint_id = any (p_removed);
  else
    update checkpoint_heads h set checkpoint_id = v_head
    where h.thread_id = p_thread_id and h.checkpoint_ns = p_checkpoint_ns and h.checkpoint_id = any (p_removed);
  end if;
end
$$;
