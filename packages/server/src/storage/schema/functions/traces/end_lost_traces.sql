-- Ends at most p_limit pending trace runs of this server's own runs: those whose run has ended or was deleted, and for which the executor has
-- sent nothing for p_quiet. Returns how many. own_trace_runs identifies them, because clients cannot write to it. end_time is the
-- time of the last write. rank and patched stay, so a later write of the executor still has priority.
create or replace function end_lost_traces(p_quiet interval, p_limit integer) returns integer language sql as $$
  with lost as (
    select o.tenant_id, o.id, o.run_id, r.error from own_trace_runs o
    left join runs r on r.run_id = o.run_id
    where o.sent_at < now() - p_quiet and (r.run_id is null or r.status not in ('pending', 'running'))
    order by o.sent_at limit p_limit for update of o skip locked
  ), forgotten as (
    delete from own_trace_runs o using lost where o.tenant_id = lost.tenant_id and o.id = lost.id
  ), ended as (
    update trace_runs t set
      end_time = greatest(t.start_time, t.updated_at),
      error = coalesce(case when lost.id = lost.run_id then run_error_message(lost.error) end,
        'The process that executed it was lost or stopped before it ended')
    from lost join trace_run_days d on d.tenant_id = lost.tenant_id and d.id = lost.id
    where t.tenant_id = d.tenant_id and t.id = d.id and t.day = d.day and t.status = 'pending'
    returning t.tenant_id, t.session_id, t.start_time, t.end_time
  ), noted as (
    -- The hours may have been stored while the trace run was pending.
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct e.tenant_id, e.session_id, h from ended e cross join lateral trace_hours_called(e.start_time, e.end_time) h
    where e.session_id is not null
  )
  select count(*)::integer from ended
$$;
