-- Releases runs before their leases end. p_charge: the attempt is charged, unless it committed the work of a node. p_lost: the attempt is
-- added to the lost attempts with p_reason; by default when p_charge is true.
-- The caller may come too late, when it could not reach the database: another worker has recovered the run, and perhaps claimed it. The
-- run then stays as it is. Only its entry in the lost attempts changes: it gets p_reason, and its charge is taken back if p_charge is false.
create or replace function release_runs(p_run_ids uuid[], p_lease_tokens bigint[], p_charge boolean, p_reason text,
                                        p_lost boolean default null) returns void
language plpgsql set enable_seqscan = off as $$
begin
  perform 1 from runs r join unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
    on r.run_id = l.run_id and r.lease_token >= l.lease_token
  order by r.run_id for update of r;
  -- Too late.
  update runs r
  set attempt = r.attempt - (not p_charge and r.status in ('pending', 'running')
        and r.lost_attempts @> jsonb_build_array(jsonb_build_object('lease_token', l.lease_token, 'charged', true)))::integer,
      lost_attempts = (
        select jsonb_agg(case when e.entry -> 'lease_token' <> to_jsonb(l.lease_token) or e.entry ->> 'message' like '%It says:%'
            or e.entry ->> 'message' = p_reason then e.entry
          else e.entry || jsonb_build_object('message', (e.entry ->> 'message') || '. It says: ' || p_reason,
                                             'charged', p_charge and (e.entry -> 'charged')::boolean) end order by e.place)
        from jsonb_array_elements(r.lost_attempts) with ordinality as e(entry, place))
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and (r.lease_token > l.lease_token or r.lease_token = l.lease_token and r.status <> 'running')
    and r.lost_attempts @> jsonb_build_array(jsonb_build_object('lease_token', l.lease_token));
  -- In time.
  update runs r
  set status = 'pending', waits_for = 'slot', lease_until = null, worker_id = null, updated_at = now(),
      graph_id = coalesce((select a.graph_id from assistants a where a.assistant_id = r.assistant_id), r.graph_id),
      attempt = r.attempt - (not p_charge or r.progress_token = r.lease_token)::integer,
      lost_attempts = case when coalesce(p_lost, p_charge)
        then lost_attempt(r, p_reason, p_charge and r.progress_token <> r.lease_token, 'alive') else r.lost_attempts end
  from unnest(p_run_ids, p_lease_tokens) as l(run_id, lease_token)
  where r.run_id = l.run_id and r.lease_token = l.lease_token and r.status = 'running';
  if found then perform pg_notify('svc', 'p'); end if;
end
$$;
