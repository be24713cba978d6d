-- Removes a run that is over, and what it left on its thread, unless a later run rests on that. What another has stored after these must be seen, to be put
-- after what was before them: so no flush may be open. One that is open holds its run, for which we wait before we lock the
-- thread, as flushes do; one that begins later stops at the heads. A flush may have got there first when its run was not
-- running at our first look: it wants the thread at its end, so we let go of everything, and wait for that run too.
create or replace function delete_run(p_run_id uuid, p_thread_id uuid, p_access jsonpath) returns text
language plpgsql as $$
declare
  v_status text;
begin
  loop
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
      -- One that is being claimed records what it finds.
      perform 1 from runs r where r.thread_id = p_thread_id and r.status = 'pending' for key share nowait;
      perform 1 from checkpoint_heads h where h.thread_id = p_thread_id for update nowait;
      exit;
    exception when lock_not_available then null; -- again, until the time of the statement is over
    end;
  end loop;
  if not hand_over_run(p_run_id, p_thread_id) then
    perform remove_run(p_run_id, p_thread_id);
    perform restore_thread(p_thread_id);
  end if;
  -- Claims have passed over runs that were locked here.
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status = 'pending') then
    perform pg_notify('svc', 'p');
  end if;
  delete from run_events e where e.run_id = p_run_id;
  delete from webhook_deliveries w where w.run_id = p_run_id;
  return 'deleted';
end
$$;
