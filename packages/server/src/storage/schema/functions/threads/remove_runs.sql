-- The rows of runs first, which waits for flushes that hold them; what these have written, the next statement sees.
create or replace function remove_runs(p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_gone uuid[];
begin
  with gone as (
    delete from runs r where r.thread_id = p_thread_id returning r.run_id, r.status
  ), told as (
    select g.run_id, case when g.status not in ('pending', 'running') then null
      else pg_notify('svc', case when g.status = 'running' then 'c:' else 'e:' end || g.run_id) end
    from gone g
  )
  select coalesce(array_agg(t.run_id), '{}') into v_gone from told t;
  delete from run_cancels c where c.run_id = any (v_gone);
  delete from run_users u where u.run_id = any (v_gone);
  delete from run_events e where e.run_id = any (v_gone);
  delete from webhook_deliveries w where w.thread_id = p_thread_id;
end
$$;
