-- Sums over the trace runs of a project in the partition of a day that started in [p_from, p_to).
--
-- Each token is counted once: when a model call is nested in another one (a wrapper), only the outer one counts, since it includes the inner
-- one. The outer call is in the same project, and runs when the inner one starts. Costs are those of model calls that count, and of all
-- other trace runs.
create or replace function count_trace_runs(p_tenant uuid, p_session uuid, p_day date, p_from timestamptz, p_to timestamptz)
returns trace_hours language plpgsql stable
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_sums trace_hours;
begin
  with runs as materialized (
    select r.id, r.parent_run_id, r.run_type, r.status, r.start_time, r.end_time, r.prompt_tokens, r.completion_tokens, r.total_tokens,
      r.prompt_cost, r.completion_cost, r.total_cost, trace_step(date_part('epoch', r.end_time - r.start_time)) as latency,
      trace_step(date_part('epoch', r.first_token_time - r.start_time)) as first_token
    from trace_runs r
    where r.tenant_id = p_tenant and r.session_id = p_session and r.day = p_day and r.start_time >= p_from and r.start_time < p_to
  ), callers as materialized (
    select r.id, trace_calls_from(r.start_time) as first, trace_calls_until(r.start_time, r.end_time) as last
    from runs r where r.run_type = 'llm' and r.total_tokens is not null
    union all
    -- Outer calls outside of this hour; most are in `runs`.
    select c.id, p.first, p.last from (
      select parent_run_id as id from runs where run_type = 'llm' and parent_run_id is not null except select id from runs) c
    cross join lateral (
      select trace_calls_from(p.start_time) as first, trace_calls_until(p.start_time, p.end_time) as last
      from trace_runs p where p.tenant_id = p_tenant and p.id = c.id and p.session_id = p_session
        and p.day = any (array[p_day, p_day - 1, date '-infinity']) and p.run_type = 'llm' and p.total_tokens is not null
      limit 1) p
  ), counted as (
    select r.*, r.run_type = 'llm' and c.id is null as has_tokens, r.run_type is distinct from 'llm' or c.id is null as has_cost
    from runs r left join callers c on c.id = r.parent_run_id and r.start_time between c.first and c.last
  ), latencies as (
    select latency as step, count(*)::integer as runs from runs where latency is not null group by latency
  ), first_tokens as (
    select first_token as step, count(*)::integer as runs from runs where first_token is not null group by first_token
  )
  select p_tenant, p_session, p_from, count(*), count(*) filter (where status = 'error'),
    token_sum(sum(prompt_tokens) filter (where has_tokens)), token_sum(sum(completion_tokens) filter (where has_tokens)),
    token_sum(sum(total_tokens) filter (where has_tokens)), sum(prompt_cost) filter (where has_cost),
    sum(completion_cost) filter (where has_cost), sum(total_cost) filter (where has_cost), max(start_time),
    array(select step from latencies order by step), array(select runs from latencies order by step),
    array(select step from first_tokens order by step), array(select runs from first_tokens order by step)
  into v_sums from counted;
  return v_sums;
end $$;
