-- Deletes the runs in flight of a thread, so that later flushes of their executors are rejected. Notifies the processes that execute or
-- read them.
create or replace function remove_runs(p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_gone uuid[];
begin
  with gone as (
    delete from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running') returning r.run_id, r.status
  ), notified as (
    select g.run_id, pg_notify('svc', case when g.status = 'running' then 'c:' else 'e:' end || g.run_id) from gone g
  )
  select coalesce(array_agg(n.run_id), '{}') into v_gone from notified n;
  delete from run_cancels c where c.run_id = any (v_gone);
  delete from run_users u where u.run_id = any (v_gone);
  delete from run_events e where e.run_id = any (v_gone);
end
$$;
