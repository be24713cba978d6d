-- Queues the next run of a thread: the first run that waits for the thread now waits for a slot. The caller holds the thread's lock and
-- has checked that no run of the thread is running or waits for a slot.
create or replace function advance_thread(p_thread_id uuid) returns void
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
begin
  update runs r
  set waits_for = 'slot', graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id)
  where r.run_id = (
    select o.run_id from runs o
    where o.thread_id = p_thread_id and o.status = 'pending' and o.waits_for = 'thread'
    order by o.created_at, o.run_id desc limit 1);
  if found then perform pg_notify('svc', 'p'); end if;
end
$$;
