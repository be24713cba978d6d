-- Releases runs before their leases end. p_lost: the attempt is added to the lost attempts with p_reason.
-- p_charge: the attempt may be the reason for its loss (see is_charged()). An attempt that is not lost is not charged.
-- The caller may come too late, when it could not reach the database: another worker has recovered the run, and perhaps claimed it. The
-- run then stays as it is, and its entry in the lost attempts gets p_reason, unless it has a reason already.
create or replace function release_runs(p_run_ids uuid[], p_lease_tokens bigint[], p_charge boolean, p_reason text,
                                        p_lost boolean) returns void
language plpgsql set enable_seqscan = off as $$
begin
  perform 1 from runs r join unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
    on r.run_id = l.run_id and r.lease_token >= l.lease_token
  order by r.run_id for update of r;
  -- Too late.
  update runs r
  set lost_attempts = (
        select jsonb_agg(case
          when (e.entry -> 'lease_token')::bigint <> l.lease_token or e.entry ? 'reason' or e.entry ->> 'message' = p_reason then e.entry
          else e.entry || jsonb_build_object('message', (e.entry ->> 'message') || '. It says: ' || p_reason, 'reason', p_reason)
          end order by e.place)
        from jsonb_array_elements(r.lost_attempts) with ordinality as e(entry, place))
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and (r.lease_token > l.lease_token or r.lease_token = l.lease_token and r.status <> 'running')
    and r.lost_attempts @> jsonb_build_array(jsonb_build_object('lease_token', l.lease_token));
  -- In time.
  with held as (
    select r.run_id, p_lost as lost, p_lost and is_charged(r, p_charge) as charged
    from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
    join runs r on r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running'
  )
  update runs r
  set status = 'pending', waits_for = 'slot', lease_until = null, worker_id = null, updated_at = now(),
      graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id),
      attempt = r.attempt - (not h.charged)::integer,
      lost_attempts = case when h.lost then lost_attempt(r, p_reason, h.charged, 'alive') else r.lost_attempts end
  from held h where r.run_id = h.run_id;
  if found then perform pg_notify('svc', 'p'); end if;
end
$$;
