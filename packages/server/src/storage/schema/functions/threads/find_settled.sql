-- The state of a thread after its ended runs, which a run that begins now records. No row when there is no thread.
create or replace function find_settled(p_thread_id uuid)
returns table (head uuid, status text, interrupts text, error text, settled_by uuid)
language sql stable as $$
  select h.checkpoint_id, t.settled_status, t.interrupts, t.error, t.settled_by
  from threads t
  left join checkpoint_heads h on h.thread_id = t.thread_id and h.checkpoint_ns = ''
  where t.thread_id = p_thread_id
$$;
