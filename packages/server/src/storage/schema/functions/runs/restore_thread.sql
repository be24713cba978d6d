-- The thread as its newest checkpoint has it. Until a run ends, interrupts and error are those of the run before it:
-- they stand when the last one has gone without a trace, and are over when it had begun.
create or replace function restore_thread(p_thread_id uuid, p_begun boolean) returns void
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
