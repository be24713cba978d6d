-- Checks up to p_limit threads after p_after on which runs wait for another run, and queues the first one where there is no other run. No
-- function should leave a thread in this state; a run on it would wait forever. Returns where to continue (null at the end), and how
-- many threads were repaired.
create or replace function repair_waiting_threads(p_after uuid, p_limit integer, out last uuid, out repaired integer)
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_thread record;
begin
  repaired := 0;
  for v_thread in
    with recursive walk (thread_id, place) as (
      select coalesce(p_after, '00000000-0000-0000-0000-000000000000'), 0
      union all
      select (
          select r.thread_id from runs r
          where r.status = 'pending' and r.waits_for = 'thread' and r.thread_id > w.thread_id
          order by r.thread_id, r.created_at, r.run_id desc limit 1), w.place + 1
      from walk w where w.thread_id is not null and w.place < p_limit
    )
    select w.thread_id, w.place, is_thread_taken(w.thread_id) as is_taken from walk w where w.place > 0
  loop
    last := v_thread.thread_id;
    continue when v_thread.thread_id is null or v_thread.is_taken;
    perform 1 from threads t where t.thread_id = v_thread.thread_id for update skip locked;
    continue when not found or is_thread_taken(v_thread.thread_id);
    perform advance_thread(v_thread.thread_id);
    repaired := repaired + 1;
  end loop;
end
$$;
