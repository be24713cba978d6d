-- Stores computed costs of trace runs whose model and usage are still those that the cost was computed from, and whose cost was not sent.
-- Every array is a column. Returns how many trace runs were priced.
create or replace function price_runs(
  p_tenant uuid, p_id uuid[], p_model text[], p_prompt_tokens bigint[], p_completion_tokens bigint[], p_total_tokens bigint[],
  p_usage_details text[], p_prompt_cost numeric[], p_completion_cost numeric[], p_total_cost numeric[], p_priced_details text[]
) returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_count integer;
begin
  with wanted as (
    select * from unnest(p_id, p_model, p_prompt_tokens, p_completion_tokens, p_total_tokens, p_usage_details,
      p_prompt_cost, p_completion_cost, p_total_cost, p_priced_details)
    as w (id, model, prompt_tokens, completion_tokens, total_tokens, usage_details, prompt_cost, completion_cost, total_cost, priced_details)
  ), found as materialized (
    -- In the order of ids, as ingest_runs() locks them.
    select w.*, r.day from wanted w
    cross join lateral (select d.day from trace_run_days d where d.tenant_id = p_tenant and d.id = w.id offset 0) d
    join trace_runs r on r.tenant_id = p_tenant and r.id = w.id and r.day = d.day
    order by w.id for no key update of r
  ), priced as (
    update trace_runs r set prompt_cost = f.prompt_cost, completion_cost = f.completion_cost, total_cost = f.total_cost,
      usage_details = coalesce(f.priced_details::jsonb, r.usage_details), patched = r.patched | trace_bit('priced'), updated_at = clock_timestamp()
    from found f
    where r.tenant_id = p_tenant and r.id = f.id and r.day = f.day
      and (r.model, r.prompt_tokens, r.completion_tokens, r.total_tokens, r.usage_details)
        is not distinct from (f.model, f.prompt_tokens, f.completion_tokens, f.total_tokens, f.usage_details::jsonb)
      and num_nonnulls(r.prompt_cost, r.completion_cost, r.total_cost) = 0
    returning r.session_id, r.start_time, r.end_time
  ), noted as (
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct p_tenant, p.session_id, h from priced p cross join lateral trace_hours_called(p.start_time, p.end_time) h
    where p.session_id is not null
  )
  select count(*) into v_count from priced;
  return v_count;
end $$;
