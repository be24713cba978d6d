-- Deletes at most p_limit expired trace runs of the partition of out-of-range starts, and entries of dropped days, both with their feedback.
-- Returns how many.
create or replace function delete_old_traces(p_days_kept integer, p_limit integer) returns integer language plpgsql as $$
declare
  v_count integer;
  v_more integer;
begin
  with old as (
    select tenant_id, id, session_id, run_type, start_time, end_time from trace_runs where day = '-infinity' and inserted_at < now() - p_days_kept * interval '1 day'
    order by inserted_at limit p_limit
  ), called as (
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct old.tenant_id, old.session_id, h from old cross join lateral trace_hours_called(old.start_time, old.end_time) h
    where old.session_id is not null and old.run_type = 'llm'
  ), files as (
    delete from trace_attachments a using old where a.tenant_id = old.tenant_id and a.run_id = old.id and a.day = '-infinity'
  ), feedback_gone as (
    delete from feedback f using old where f.tenant_id = old.tenant_id and f.run_id = old.id
  ), days as (
    delete from trace_run_days d using old where d.tenant_id = old.tenant_id and d.id = old.id
  )
  delete from trace_runs r using old where r.tenant_id = old.tenant_id and r.id = old.id and r.day = '-infinity';
  get diagnostics v_count = row_count;
  with old as (
    delete from trace_run_days where (tenant_id, id) in (
      select tenant_id, id from trace_run_days where isfinite(day) and day < current_date - p_days_kept order by day limit p_limit)
    returning tenant_id, id
  ), feedback_gone as (
    delete from feedback f using old where f.tenant_id = old.tenant_id and f.run_id = old.id
  )
  select count(*)::integer into v_more from old;
  delete from trace_orphans o where (o.tenant_id, o.parent_run_id, o.id) in (
    select u.tenant_id, u.parent_run_id, u.id from trace_orphans u
    where not exists (select from trace_run_days d where d.tenant_id = u.tenant_id and d.id = u.id) limit p_limit);
  return greatest(v_count, v_more);
end $$;
