-- The interrupts that a run found on its thread, if the thread still has the checkpoint of that time; otherwise '{}'. For a run that has ended
-- without a report of its executor: those of tasks that have finished since are included. Interrupts stay text, because PostgreSQL cannot
-- read every string that JSON can have.
create or replace function kept_interrupts(p_run_id uuid) returns text
language sql stable as $$
  select coalesce((
    select r.found_interrupts from runs r
    join checkpoint_heads h on h.thread_id = r.thread_id and h.checkpoint_ns = '' and h.checkpoint_id = r.found_head
    where r.run_id = p_run_id
  ), '{}')
$$;
