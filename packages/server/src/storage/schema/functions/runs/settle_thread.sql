-- Sets the thread's status after the end of a run: error, else interrupted, else busy while other runs wait, else idle.
create or replace function settle_thread(p_thread_id uuid, p_run_id uuid, p_ending text, p_interrupts text, p_error text)
returns void
language sql as $$
  update threads t
  set status = case
        when p_ending in ('error', 'interrupted') then p_ending
        when exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')
                     and r.waits_for is distinct from 'answer') then 'busy'
        else 'idle' end,
      settled_by = p_run_id,
      settled_status = case when p_ending in ('error', 'interrupted') then p_ending else 'idle' end,
      interrupts = p_interrupts,
      error = p_error,
      updated_at = now(),
      state_updated_at = now()
  where t.thread_id = p_thread_id
$$;
