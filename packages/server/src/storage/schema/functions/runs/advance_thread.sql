-- Queues the next run of a thread: the first run that waits for the thread now waits for a slot. While the thread waits for an answer, inputs that
-- were sent into a run wait too. The caller holds the thread's lock and has checked that no run of the thread is running or waits for a slot.
create or replace function advance_thread(p_thread_id uuid) returns void
language plpgsql set enable_seqscan = off set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_asks boolean;
begin
  if exists (select 1 from runs i where i.thread_id = p_thread_id and i.status = 'pending' and i.input_of is not null) then
    v_asks := awaits_answer(p_thread_id);
    update runs r set waits_for = case when v_asks then 'answer' else 'thread' end
    where r.thread_id = p_thread_id and r.status = 'pending' and r.input_of is not null and r.waits_for in ('thread', 'answer');
    if v_asks then perform restore_thread(p_thread_id); end if;
  end if;
  update runs r
  set waits_for = 'slot', graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id)
  where r.run_id = (
    select o.run_id from runs o
    where o.thread_id = p_thread_id and o.status = 'pending' and o.waits_for = 'thread'
    order by o.created_at, o.run_id desc limit 1);
  if found then perform pg_notify('svc', 'p'); end if;
end
$$;
