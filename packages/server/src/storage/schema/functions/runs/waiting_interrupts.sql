-- The interrupts at which a thread waits after a run that did not succeed, as JSON by task id: those of the run's own tasks (p_interrupts), and,
-- if the newest checkpoint is the one that the run found, those that the run found. Without tasks that have finished since.
create or replace function waiting_interrupts(p_thread_id uuid, p_run_id uuid, p_interrupts text) returns text
language sql stable as $$
  with head as (
    select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = ''
  ), known as (
    select e.key, e.value from json_each(coalesce(p_interrupts, '{}')::json) e
    union all
    select e.key, e.value from runs r join head on head.checkpoint_id = r.found_head cross join json_each(r.found_interrupts::json) e
    where r.run_id = p_run_id and (coalesce(p_interrupts, '{}')::json -> e.key) is null
  )
  select coalesce(json_object_agg(k.key, k.value)::text, '{}') from known k cross join head
  -- The writes of a finished task have indexes from 0. Interrupts, errors and resume values have negative ones.
  where not exists (
    select 1 from checkpoint_writes w
    where w.thread_id = p_thread_id and w.checkpoint_ns = '' and w.checkpoint_id = head.checkpoint_id
      and w.task_id = k.key and w.idx >= 0)
$$;
