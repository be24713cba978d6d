-- Queues up to p_limit runs whose leases have ended, and returns them. A run that was cancelled, or whose attempts are used up, ends
-- instead. The attempt may be the reason for its loss if the process of its worker has ended. A worker whose process may still execute was
-- cut off from the database, paused or too slow (see is_charged()).
create or replace function recover_lost_runs(p_limit integer, p_attempts integer) returns setof runs
language plpgsql set enable_seqscan = off as $$
declare
  v_run runs%rowtype;
  v_worker workers%rowtype;
  v_name text;
  v_state text;
  v_message text;
  v_charged boolean;
  v_end record;
begin
  for v_run in
    with lost as (
      select r.* from runs r where r.status = 'running' and r.lease_until < now()
      order by r.run_id limit p_limit for update skip locked
    )
    select * from lost
  loop
    select * into v_worker from workers w where w.worker_id = v_run.worker_id;
    v_name := coalesce(v_worker.name, v_run.worker_id::text);
    v_state := case when not found or v_worker.ended_at is not null then 'gone' when v_worker.seen_at > v_run.lease_until then 'alive' else 'silent' end;
    v_message := case
      when v_worker.ended_at is not null then format('The process of worker %s ended while it held lease %s', v_name, v_run.lease_token)
      else format('Lease %s ended %s s ago and was not renewed: worker %s %s', v_run.lease_token,
        round(extract(epoch from now() - v_run.lease_until)::numeric, 1), v_name,
        case v_state when 'gone' then 'is unknown' when 'alive' then 'is alive, and was too slow'
          else format('last reported itself %s s ago', round(extract(epoch from now() - v_worker.seen_at)::numeric, 1)) end)
      end;
    v_charged := is_charged(v_run, v_state = 'gone');
    update runs r
    set status = 'pending', waits_for = 'slot', lease_until = null, worker_id = null, updated_at = now(),
        graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id),
        attempt = r.attempt - (not v_charged)::integer,
        lost_attempts = lost_attempt(r, v_message, v_charged, v_state)
    where r.run_id = v_run.run_id returning * into v_run;
    select * into v_end from end_spent_run(v_run, p_attempts);
    if v_end.status is null then
      perform pg_notify('svc', 'p');
    else
      v_run.status := v_end.status;
      v_run.error := v_end.error;
    end if;
    return next v_run;
  end loop;
end
$$;
