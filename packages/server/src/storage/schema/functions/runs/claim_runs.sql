-- Takes up to p_count runs that may start: pending and due, first on their thread, or running under a lease that
-- has ended. Those that shall stop, or whose attempts are used up, end instead and are returned with that status.
create or replace function claim_runs(p_count integer, p_worker_id uuid, p_lease interval, p_attempts integer)
returns setof runs
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_cancelled boolean;
  v_is_first boolean;
  v_found record;
begin
  for v_run in
    with lost as (
      select r.* from runs r where r.status = 'running' and r.lease_until < now()
      order by r.run_id limit p_count for update skip locked
    ), ready as (
      select r.* from runs r
      where r.status = 'pending' and r.not_before <= now()
        and not exists (
          select 1 from runs o
          where o.thread_id = r.thread_id and o.run_id <> r.run_id
            and (o.status = 'running'
                 or (o.status = 'pending' and (o.created_at, o.run_id) < (r.created_at, r.run_id)
                     and o.not_before <= now())))
      order by r.not_before, r.created_at limit p_count for update skip locked
    )
    select * from (select * from lost union all select * from ready) r limit p_count
  loop
    if v_run.status = 'running' then
      v_run.lost_attempts := v_run.lost_attempts || jsonb_build_object(
        'attempt', v_run.attempt, 'at', now(), 'message', 'Its worker was lost: the lease was not renewed');
      update runs r set lost_attempts = v_run.lost_attempts where r.run_id = v_run.run_id;
    end if;
    v_cancelled := exists (select 1 from run_cancels c where c.run_id = v_run.run_id);
    if v_cancelled or v_run.attempt >= p_attempts then
      v_run.status := case when v_cancelled then 'interrupted' else 'error' end;
      v_run.error := case when v_cancelled then null else json_build_object('error', 'AttemptsExhausted', 'message',
        format('The run was given up after %s attempts. The last one: %s', v_run.attempt,
               coalesce(v_run.lost_attempts -> -1 ->> 'message', 'it was lost')))::text end;
      update runs r set lease_token = r.lease_token + 1 where r.run_id = v_run.run_id;
      perform end_run(v_run.run_id, v_run.status, case when v_cancelled then 'as_stored' else 'error' end, null, v_run.error, null);
    else
      v_is_first := v_run.lease_token = 0;
      select * into v_found from find_settled(v_run.thread_id);
      begin
        update runs r
        set status = 'running', attempt = r.attempt + 1, lease_token = r.lease_token + 1, worker_id = p_worker_id,
            lease_until = now() + p_lease, started_at = now(), updated_at = now(),
            found_head = case when v_is_first then v_found.head else r.found_head end,
            found_status = case when v_is_first then v_found.status else r.found_status end,
            found_interrupts = case when v_is_first then v_found.interrupts else r.found_interrupts end,
            found_error = case when v_is_first then v_found.error else r.found_error end,
            found_by = case when v_is_first then v_found.settled_by else r.found_by end
        where r.run_id = v_run.run_id returning * into v_run;
      exception when unique_violation then
        continue; -- another worker started a run on this thread a moment ago
      end;
      -- The next attempt answers again what the last one answered in a step that it did not finish.
      if not v_is_first and v_found.head is not distinct from v_run.found_head then
        perform undo_run_writes(v_run.run_id, v_run.thread_id, false);
      end if;
      update threads t set status = 'busy' where t.thread_id = v_run.thread_id and t.status <> 'busy';
    end if;
    return next v_run;
  end loop;
end
$$;
