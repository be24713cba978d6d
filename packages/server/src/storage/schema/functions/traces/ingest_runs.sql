-- Every argument is a column; the runs of a batch are distinct. Returns the days that have no partition yet, when there are
-- such, and has then done nothing; null when all is stored.
--
-- What a patch has written stays when a post comes late, and when an older patch does; what only a post has written
-- gives way to any patch. A write that was taken in already changes nothing.
create or replace function ingest_runs(
  p_tenant uuid, p_days_kept integer, p_id text[], p_start_time text[], p_metadata text[], p_rank text[],
  p_patched text[], p_write text[], p_session_id text[], p_trace_id text[], p_parent_run_id text[], p_name text[],
  p_run_type text[], p_dotted_order text[], p_end_time text[], p_error text[], p_inputs text[], p_outputs text[],
  p_events text[], p_serialized text[], p_extra text[], p_tags text[], p_reference_example_id text[],
  p_prompt_tokens text[], p_completion_tokens text[], p_total_tokens text[], p_prompt_cost text[],
  p_completion_cost text[], p_total_cost text[], p_usage_details text[], p_first_token_time text[], p_model text[]
) returns date[] language plpgsql
-- Its plans are kept while the tables grow from nothing: they must be right for large ones from the start. So joins are
-- written as the lookups that they are to be (offset 0 keeps the planner from turning them around).
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_missing date[];
  v_relatives uuid[];
begin
  perform set_config('svc.tenant', p_tenant::text, true);
  select array_agg(distinct t.day) into v_missing
  from (select trace_day(s::timestamptz, p_days_kept) as day from unnest(p_start_time) s) t
  where isfinite(t.day) and not exists (select from trace_days d where d.day = t.day);
  if v_missing is not null then return v_missing; end if;

  -- In the order of their ids, here and below: two batches with the same runs wait for each other, and never in a circle.
  insert into trace_run_days (tenant_id, id, day)
  select p_tenant, r.id::uuid, trace_day(r.start_time::timestamptz, p_days_kept)
  from unnest(p_id, p_start_time) r (id, start_time) order by r.id::uuid
  on conflict do nothing;

  -- And with the runs, that the hours have changed which these are counted in (0023).
  with stored as (
    insert into trace_runs as t (
      tenant_id, day, id, start_time, metadata, rank, patched, writes, session_id, trace_id, parent_run_id, name,
      run_type, dotted_order, end_time, error, inputs, outputs, events, serialized, extra, tags, reference_example_id,
      prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, usage_details,
      first_token_time, model)
    select
      p_tenant, d.day, d.id, r.start_time::timestamptz, r.metadata::jsonb, r.rank::bigint, r.patched::integer,
      string_to_array(r.write, ',')::bigint[], r.session_id::uuid, r.trace_id::uuid, r.parent_run_id::uuid, r.name,
      r.run_type, r.dotted_order, r.end_time::timestamptz, r.error, r.inputs, r.outputs, r.events, r.serialized, r.extra,
      r.tags::jsonb, r.reference_example_id::uuid, r.prompt_tokens::bigint, r.completion_tokens::bigint,
      r.total_tokens::bigint, r.prompt_cost::numeric, r.completion_cost::numeric, r.total_cost::numeric,
      r.usage_details::jsonb, r.first_token_time::timestamptz, r.model
    from unnest(
        p_id::uuid[], p_start_time, p_metadata, p_rank, p_patched, p_write, p_session_id, p_trace_id, p_parent_run_id, p_name,
        p_run_type, p_dotted_order, p_end_time, p_error, p_inputs, p_outputs, p_events, p_serialized, p_extra, p_tags,
        p_reference_example_id, p_prompt_tokens, p_completion_tokens, p_total_tokens, p_prompt_cost, p_completion_cost,
        p_total_cost, p_usage_details, p_first_token_time, p_model
      ) as r (
        id, start_time, metadata, rank, patched, write, session_id, trace_id, parent_run_id, name, run_type,
        dotted_order, end_time, error, inputs, outputs, events, serialized, extra, tags, reference_example_id,
        prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, usage_details,
        first_token_time, model)
    cross join lateral (
      -- r.id is a uuid already: under row level security PostgreSQL 15 would not look up what has yet to be cast.
      select d.day, d.id from trace_run_days d where d.tenant_id = p_tenant and d.id = r.id
        -- What is said of a day that is gone is gone with it: its runs are known for a while after their partition.
        and (not isfinite(d.day) or exists (select from trace_days t where t.day = d.day)) offset 0
    ) d
    order by d.id
    on conflict (tenant_id, id, day) do update set
      -- Its day is where the row is; a time on another is not believed.
      start_time = case when not isfinite(t.day) or (excluded.start_time at time zone 'utc')::date = t.day
        then trace_pick(excluded.start_time, t.start_time, excluded.rank, t.rank, t.patched & 64) else t.start_time end,
      metadata = case when excluded.rank >= t.rank then t.metadata || excluded.metadata else excluded.metadata || t.metadata end,
      session_id = trace_pick(excluded.session_id, t.session_id, excluded.rank, t.rank, t.patched & 1),
      trace_id = trace_pick(excluded.trace_id, t.trace_id, excluded.rank, t.rank, t.patched & 2),
      parent_run_id = trace_pick(excluded.parent_run_id, t.parent_run_id, excluded.rank, t.rank, t.patched & 4),
      name = trace_pick(excluded.name, t.name, excluded.rank, t.rank, t.patched & 8),
      run_type = trace_pick(excluded.run_type, t.run_type, excluded.rank, t.rank, t.patched & 16),
      dotted_order = trace_pick(excluded.dotted_order, t.dotted_order, excluded.rank, t.rank, t.patched & 32),
      end_time = trace_pick(excluded.end_time, t.end_time, excluded.rank, t.rank, t.patched & 128),
      error = trace_pick(excluded.error, t.error, excluded.rank, t.rank, t.patched & 256),
      inputs = trace_pick(excluded.inputs, t.inputs, excluded.rank, t.rank, t.patched & 512),
      outputs = trace_pick(excluded.outputs, t.outputs, excluded.rank, t.rank, t.patched & 1024),
      events = trace_pick(excluded.events, t.events, excluded.rank, t.rank, t.patched & 2048),
      serialized = trace_pick(excluded.serialized, t.serialized, excluded.rank, t.rank, t.patched & 4096),
      extra = trace_pick(excluded.extra, t.extra, excluded.rank, t.rank, t.patched & 8192),
      tags = trace_pick(excluded.tags, t.tags, excluded.rank, t.rank, t.patched & 16384),
      reference_example_id = trace_pick(excluded.reference_example_id, t.reference_example_id, excluded.rank, t.rank, t.patched & 32768),
      prompt_tokens = trace_pick(excluded.prompt_tokens, t.prompt_tokens, excluded.rank, t.rank, t.patched & 65536),
      completion_tokens = trace_pick(excluded.completion_tokens, t.completion_tokens, excluded.rank, t.rank, t.patched & 65536),
      total_tokens = trace_pick(excluded.total_tokens, t.total_tokens, excluded.rank, t.rank, t.patched & 65536),
      prompt_cost = trace_pick(excluded.prompt_cost, t.prompt_cost, excluded.rank, t.rank, t.patched & 65536),
      completion_cost = trace_pick(excluded.completion_cost, t.completion_cost, excluded.rank, t.rank, t.patched & 65536),
      total_cost = trace_pick(excluded.total_cost, t.total_cost, excluded.rank, t.rank, t.patched & 65536),
      usage_details = trace_pick(excluded.usage_details, t.usage_details, excluded.rank, t.rank, t.patched & 65536),
      first_token_time = trace_pick(excluded.first_token_time, t.first_token_time, excluded.rank, t.rank, t.patched & 131072),
      model = trace_pick(excluded.model, t.model, excluded.rank, t.rank, t.patched & 262144),
      rank = greatest(t.rank, excluded.rank),
      patched = t.patched | excluded.patched,
      writes = (t.writes || excluded.writes)[greatest(1, cardinality(t.writes) - 30):],
      updated_at = now()
    where not t.writes @> excluded.writes
    returning t.day, t.session_id, t.start_time, t.end_time, t.run_type = 'llm' and t.total_tokens is not null as is_caller
  ), changed as (
    select distinct s.session_id, trace_hour_of(case when s.is_caller then trace_calls_from(s.start_time) else s.start_time end) as first,
      trace_hour_of(case when s.is_caller then trace_calls_until(s.start_time, s.end_time) else s.start_time end) as last
    from stored s where s.session_id is not null and s.start_time is not null and (isfinite(s.day) or s.is_caller)
  )
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select distinct p_tenant, c.session_id, h from changed c cross join lateral generate_series(c.first, c.last, interval '1 hour') h;

  insert into trace_orphans (tenant_id, parent_run_id, id)
  select p_tenant, r.parent_run_id::uuid, r.id::uuid
  from unnest(p_id, p_parent_run_id, p_dotted_order) r (id, parent_run_id, dotted_order)
  where r.dotted_order is null and r.parent_run_id is not null
  on conflict do nothing;
  select array_agg(distinct o.parent_run_id) into v_relatives from trace_orphans o
  where o.tenant_id = p_tenant and o.parent_run_id = any ((p_id || p_parent_run_id)::uuid[]);
  if v_relatives is not null then perform adopt_orphans(p_tenant, v_relatives); end if;
  return null;
end $$;

-- Runs under row level security, where the role exists (migration 0022).
do $$ begin
  alter function ingest_runs set role = svc_tenant;
exception when undefined_object or insufficient_privilege then null;
end $$;
