-- Gives runs back before their leases end. With a charge the attempt counts as lost, for the reason given;
-- without one it was no fault of the run, and does not count. Without a charge that holds as well when somebody has claimed the
-- run since, because the database could not be told in time: the attempt that was counted then is taken back.
create or replace function release_runs(p_run_ids uuid[], p_lease_tokens bigint[], p_charge boolean, p_reason text) returns void
language plpgsql as $$
begin
  perform 1 from runs r join unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
    on r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'
  order by r.run_id for update of r;
  update runs r
  set status = 'pending', lease_until = null, worker_id = null, updated_at = now(),
      attempt = case when p_charge then r.attempt else r.attempt - 1 end,
      lost_attempts = case when p_charge then r.lost_attempts ||
        jsonb_build_object('attempt', r.attempt, 'at', now(), 'message', p_reason) else r.lost_attempts end
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running';
  if found then perform pg_notify('svc', 'p'); end if;
  if p_charge then return; end if;
  update runs r
  set attempt = r.attempt - 1, lost_attempts = r.lost_attempts - -1
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and r.lease_token = l.lease_token + 1 and r.status = 'running' and r.attempt > 1
    and (r.lost_attempts -> -1 ->> 'attempt')::integer = r.attempt - 1;
end
$$;
