-- Queues up to p_limit delayed runs that are due: they now wait for a slot, or for their thread. Returns how many it queued. Skips runs whose
-- thread is locked; the next call handles them.
create or replace function promote_due_runs(p_limit integer) returns integer
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_run record;
  v_count integer := 0;
begin
  for v_run in
    select r.run_id, r.thread_id, r.temporary from runs r
    where r.status = 'pending' and r.waits_for = 'time' and r.not_before <= now()
    order by r.not_before, r.run_id desc limit p_limit
  loop
    if not v_run.temporary then
      perform 1 from threads t where t.thread_id = v_run.thread_id for update skip locked;
      continue when not found and exists (select 1 from threads t where t.thread_id = v_run.thread_id);
    end if;
    with due as (
      select o.run_id from runs o
      where o.run_id = v_run.run_id and o.status = 'pending' and o.waits_for = 'time'
      for update skip locked
    )
    update runs r
    set waits_for = case when is_thread_taken(r.thread_id) then 'thread' else 'slot' end,
        graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id)
    from due where r.run_id = due.run_id;
    if found then
      v_count := v_count + 1;
      perform pg_notify('svc', 'p');
    end if;
  end loop;
  return v_count;
end
$$;
