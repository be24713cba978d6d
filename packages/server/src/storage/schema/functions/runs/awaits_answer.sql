-- True when the newest run of a thread has left it interrupted: at a question, or before or after a node. A run that was cancelled asks nothing,
-- unless it has left a question of an earlier run open.
create or replace function awaits_answer(p_thread_id uuid) returns boolean
language sql stable as $$
  select coalesce((
    select t.settled_status = 'interrupted' and (coalesce(t.interrupts, '{}') <> '{}'
      or not exists (select 1 from runs r where r.run_id = t.settled_by and r.status = 'interrupted'))
    from threads t where t.thread_id = p_thread_id
  ), false)
$$;
