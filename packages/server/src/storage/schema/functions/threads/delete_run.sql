-- Deletes an ended run and its effects on the thread, unless later runs depend on them (hand_over_run).
-- Checkpoints that others have stored after those of the run must be visible here, to be attached to their new parents, so no flush may be
-- open. An open flush holds a lock on its run: we wait for it before we lock the thread, which is the lock order of flushes. A flush that
-- begins later waits at the heads. A flush whose run was not running at our first look may have locked the heads first, and needs the
-- thread's lock at its end; then this raises lock_not_available, which releases all locks, and the caller repeats the call.
create or replace function delete_run(p_run_id uuid, p_thread_id uuid, p_access jsonpath) returns text
language plpgsql as $$
declare
  v_status text;
begin
  with held as (
    select r.run_id, r.status from runs r
    where r.run_id = any (array[p_run_id,
        (select o.run_id from runs o where o.thread_id = p_thread_id and o.status = 'running')])
      and r.thread_id = p_thread_id
      and case when r.temporary then r.metadata @@ p_access
          else exists (select 1 from threads t where t.thread_id = r.thread_id and t.metadata @@ p_access) end
    order by r.created_at, r.run_id for update
  )
  select max(h.status) filter (where h.run_id = p_run_id) into v_status from held h;
  if v_status is null then return 'missing'; end if;
  if v_status in ('pending', 'running') then return 'in_flight'; end if;
  perform 1 from threads t where t.thread_id = p_thread_id for update;
  -- A run that is being claimed records the thread's state.
  perform 1 from runs r where r.thread_id = p_thread_id and r.status = 'pending' for key share nowait;
  perform 1 from checkpoint_heads h where h.thread_id = p_thread_id for update nowait;
  if not hand_over_run(p_run_id, p_thread_id) then
    perform remove_run(p_run_id, p_thread_id);
    perform restore_thread(p_thread_id);
  end if;
  -- Claims have skipped the runs that were locked here.
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status = 'pending') then
    perform pg_notify('svc', 'p');
  end if;
  delete from run_events e where e.run_id = p_run_id;
  delete from webhook_deliveries w where w.run_id = p_run_id;
  return 'deleted';
end
$$;
