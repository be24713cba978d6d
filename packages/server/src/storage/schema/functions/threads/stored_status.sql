-- The status that follows from the newest checkpoint of a thread: interrupted when it has remaining tasks.
create or replace function stored_status(p_thread_id uuid) returns text
language sql stable as $$
  select case
    when (select json_array_length(c.shape::json -> 'tasks') from checkpoint_heads h
          join checkpoints c using (thread_id, checkpoint_ns, checkpoint_id)
          where h.thread_id = p_thread_id and h.checkpoint_ns = '') > 0 then 'interrupted'
    else 'idle' end
$$;
