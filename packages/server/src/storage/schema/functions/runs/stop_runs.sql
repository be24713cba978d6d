-- Stops the given runs of a thread, or all in flight. The caller holds the thread's lock. A pending run ends at once; for a running one a cancel
-- is recorded and its worker notified. `outcome`: 'ended', 'stopping', or 'over' when the run had ended before.
create or replace function stop_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text)
returns table (run_id uuid, outcome text)
language plpgsql set enable_seqscan = off as $$
declare
  v_run record;
  v_ended uuid[] := '{}';
begin
  for v_run in
    select r.run_id from runs r
    where r.thread_id = p_thread_id and r.status = 'pending' and (p_run_ids is null or r.run_id = any (p_run_ids))
    order by r.created_at, r.run_id for update
  loop
    insert into run_cancels values (v_run.run_id, p_action, p_reason)
    on conflict on constraint run_cancels_pkey do update set action = excluded.action, reason = excluded.reason;
    perform end_run(v_run.run_id, 'interrupted', 'as_stored', null, null, null);
    v_ended := v_ended || v_run.run_id;
    run_id := v_run.run_id;
    outcome := 'ended';
    return next;
  end loop;
  for v_run in
    select r.run_id, r.status from runs r
    where r.thread_id = p_thread_id and r.run_id <> all (v_ended)
      and (r.run_id = any (p_run_ids) or (p_run_ids is null and r.status in ('pending', 'running')))
  loop
    run_id := v_run.run_id;
    outcome := 'over';
    if v_run.status in ('pending', 'running') then
      -- A rollback request is not replaced by a later interrupt request.
      insert into run_cancels values (v_run.run_id, p_action, p_reason)
      on conflict on constraint run_cancels_pkey do update set action = excluded.action, reason = excluded.reason
      where run_cancels.action <> 'rollback';
      perform pg_notify('svc', 'c:' || v_run.run_id);
      outcome := 'stopping';
    end if;
    return next;
  end loop;
end
$$;
