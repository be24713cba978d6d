-- Sets the thread's status after a cancelled run whose executor has reported no remaining tasks, or nothing: it follows from the newest checkpoint.
create or replace function settle_stopped_thread(p_thread_id uuid, p_run_id uuid) returns void
language sql as $$
  update threads t
  set status = case
        when exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')
                     and r.waits_for is distinct from 'answer') then 'busy'
        else stored_status(t.thread_id) end,
      settled_by = p_run_id,
      settled_status = stored_status(t.thread_id),
      interrupts = kept_interrupts(p_run_id),
      error = null,
      updated_at = now()
  where t.thread_id = p_thread_id
$$;
