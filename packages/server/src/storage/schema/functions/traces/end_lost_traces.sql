-- Ends what is still pending in traces of runs that are over, or gone, and of which nothing was heard for so long; at most p_limit.
-- It ended when it was last heard of. Neither rank nor patched change: what an executor says after all has the last word.
create or replace function end_lost_traces(p_quiet interval, p_limit integer) returns integer language sql as $$
  with lost as (
    select t.tenant_id, t.id, t.day, t.trace_id, r.status, r.error from trace_runs t
    left join runs r on r.run_id = t.trace_id
    where t.status = 'pending' and t.metadata ? 'graph_id' and t.metadata ->> 'run_id' = t.trace_id::text
      and t.updated_at < now() - p_quiet and (r.run_id is null or r.status not in ('pending', 'running'))
    order by t.updated_at limit p_limit for update of t skip locked
  ), ended as (
    update trace_runs t set
      end_time = greatest(t.start_time, t.updated_at),
      error = coalesce(case when t.id = lost.trace_id then lost.error::jsonb ->> 'message' end,
        'What executed it was lost, or stopped, before it had ended')
    from lost where t.tenant_id = lost.tenant_id and t.id = lost.id and t.day = lost.day
    returning t.tenant_id, t.session_id, t.start_time, t.end_time
  ), noted as (
    -- The hours may have been written down while it was pending.
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct e.tenant_id, e.session_id, h from ended e cross join lateral trace_hours_called(e.start_time, e.end_time) h
    where e.session_id is not null
  )
  select count(*)::integer from ended
$$;
