-- Stores the sums of at most p_limit changed hours that have not changed for p_quiet; earlier they would soon change again. Returns how many.
create or replace function fold_trace_hours(p_quiet interval, p_limit integer) returns integer language plpgsql as $$
declare
  v_ids bigint[];
begin
  if not pg_try_advisory_xact_lock(7301955203) then return 0; end if;
  -- Keeps only the newest change entry of each hour.
  delete from trace_hour_changes c using (
    select tenant_id, session_id, hour, max(id) as newest from trace_hour_changes
    group by tenant_id, session_id, hour having count(*) > 1) n
  where c.tenant_id = n.tenant_id and c.session_id = n.session_id and c.hour = n.hour and c.id < n.newest;
  select array_agg(id) into v_ids from (
    select max(id) as id from trace_hour_changes group by tenant_id, session_id, hour
    having max(changed_at) <= clock_timestamp() - p_quiet order by max(id) limit p_limit) quiet;
  if v_ids is null then return 0; end if;
  with counted as materialized (
    select f.* from trace_hour_changes c cross join lateral count_trace_runs(
      c.tenant_id, c.session_id, (c.hour at time zone 'utc')::date, c.hour, c.hour + interval '1 hour') f
    where c.id = any (v_ids)
  ), gone as (
    delete from trace_hours h using counted c
    where c.run_count = 0 and h.tenant_id = c.tenant_id and h.session_id = c.session_id and h.hour = c.hour
  )
  insert into trace_hours as h select * from counted where run_count > 0
  on conflict (tenant_id, session_id, hour) do update set run_count = excluded.run_count, error_count = excluded.error_count,
    prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens, total_tokens = excluded.total_tokens,
    prompt_cost = excluded.prompt_cost, completion_cost = excluded.completion_cost, total_cost = excluded.total_cost,
    last_run_start_time = excluded.last_run_start_time, latency_steps = excluded.latency_steps, latency_runs = excluded.latency_runs,
    first_token_steps = excluded.first_token_steps, first_token_runs = excluded.first_token_runs;
  delete from trace_hour_changes where id = any (v_ids);
  return cardinality(v_ids);
end $$;
