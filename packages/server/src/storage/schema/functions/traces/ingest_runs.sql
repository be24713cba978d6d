-- Stores one batch. Every array is a column; the trace runs of a batch are distinct. Returns the days without a partition, and has then stored
-- nothing; null when everything is stored; an empty array when everything is stored and an existing trace run now has a model, tokens and
-- no cost.
--
-- Trace writes merge by field, see trace_merge(). A write that was stored before changes nothing.
create or replace function ingest_runs(
  p_tenant uuid, p_days_kept integer, p_id text[], p_start_time text[], p_metadata text[], p_rank text[],
  p_patched text[], p_write text[], p_session_id text[], p_trace_id text[], p_parent_run_id text[], p_name text[],
  p_run_type text[], p_dotted_order text[], p_end_time text[], p_error text[], p_inputs text[], p_outputs text[],
  p_events text[], p_serialized text[], p_extra text[], p_tags text[], p_reference_example_id text[],
  p_prompt_tokens text[], p_completion_tokens text[], p_total_tokens text[], p_prompt_cost text[],
  p_completion_cost text[], p_total_cost text[], p_usage_details text[], p_first_token_time text[], p_model text[],
  p_ranks text[]
) returns date[] language plpgsql
-- The plans are cached while the tables grow from nothing, so they must suit large tables from the start: joins are written as lookups
-- (offset 0 keeps the planner from reversing them).
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_missing date[];
  v_relatives uuid[];
  v_lacks_cost boolean;
begin
  perform set_config('svc.tenant', p_tenant::text, true);
  select array_agg(distinct t.day) into v_missing
  from (select trace_day(s::timestamptz, p_days_kept) as day from unnest(p_start_time) s) t
  where isfinite(t.day) and not exists (select from trace_days d where d.day = t.day);
  if v_missing is not null then return v_missing; end if;

  -- In the order of ids, here and below, so that two batches with the same trace runs wait for each other without a deadlock.
  insert into trace_run_days (tenant_id, id, day)
  select p_tenant, r.id::uuid, trace_day(r.start_time::timestamptz, p_days_kept)
  from unnest(p_id, p_start_time) r (id, start_time) order by r.id::uuid
  on conflict do nothing;

  -- The same statement records which hours have changed.
  with stored as (
    insert into trace_runs as t (
      tenant_id, day, id, start_time, metadata, rank, patched, writes, session_id, trace_id, parent_run_id, name,
      run_type, dotted_order, end_time, error, inputs, outputs, events, serialized, extra, tags, reference_example_id,
      prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, usage_details,
      first_token_time, model, ranks, inserted_at, updated_at)
    select
      p_tenant, d.day, d.id, r.start_time::timestamptz, r.metadata::jsonb, r.rank::bigint,
      r.patched::integer, string_to_array(r.write, ',')::bigint[], r.session_id::uuid, r.trace_id::uuid, r.parent_run_id::uuid, r.name,
      r.run_type, r.dotted_order, r.end_time::timestamptz, r.error, r.inputs, r.outputs, r.events, r.serialized, r.extra,
      r.tags::jsonb, r.reference_example_id::uuid, r.prompt_tokens::bigint, r.completion_tokens::bigint,
      r.total_tokens::bigint, r.prompt_cost::numeric, r.completion_cost::numeric, r.total_cost::numeric,
      r.usage_details::jsonb, r.first_token_time::timestamptz, r.model, r.ranks::jsonb, c.at, c.at
    from unnest(
        p_id::uuid[], p_start_time, p_metadata, p_rank, p_patched, p_write, p_session_id, p_trace_id, p_parent_run_id, p_name,
        p_run_type, p_dotted_order, p_end_time, p_error, p_inputs, p_outputs, p_events, p_serialized, p_extra, p_tags,
        p_reference_example_id, p_prompt_tokens, p_completion_tokens, p_total_tokens, p_prompt_cost, p_completion_cost,
        p_total_cost, p_usage_details, p_first_token_time, p_model, p_ranks
      ) as r (
        id, start_time, metadata, rank, patched, write, session_id, trace_id, parent_run_id, name, run_type,
        dotted_order, end_time, error, inputs, outputs, events, serialized, extra, tags, reference_example_id,
        prompt_tokens, completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, usage_details,
        first_token_time, model, ranks)
    cross join lateral (
      -- r.id is a uuid already: under row level security PostgreSQL 15 would not use the index for a value that must be cast.
      select d.day, d.id from trace_run_days d where d.tenant_id = p_tenant and d.id = r.id
        -- Writes to a dropped day are ignored: entries in trace_run_days outlive its partition for a while.
        and (not isfinite(d.day) or exists (select from trace_days t where t.day = d.day)) offset 0
    ) d
    -- Read after the lock on trace_runs was taken, for which exports that are created from then on wait (claim_export_runs).
    cross join (select clock_timestamp() as at offset 0) c
    order by d.id
    on conflict (tenant_id, id, day) do update set (
      start_time, session_id, trace_id, parent_run_id, name, run_type, dotted_order, end_time, error, inputs,
      outputs, events, serialized, extra, tags, reference_example_id, first_token_time, model, prompt_tokens,
      completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, usage_details, metadata, rank,
      patched, ranks, writes, updated_at
    ) = (
      select
        -- The day selects the partition, so a start on another day is not accepted.
        case when isfinite(t.day) and (excluded.start_time at time zone 'utc')::date <> t.day then t.start_time
          else trace_pick(m.wins & trace_bit('start_time'), excluded.start_time, t.start_time) end,
        trace_pick(m.wins & trace_bit('session_id'), excluded.session_id, t.session_id),
        trace_pick(m.wins & trace_bit('trace_id'), excluded.trace_id, t.trace_id),
        trace_pick(m.wins & trace_bit('parent_run_id'), excluded.parent_run_id, t.parent_run_id),
        trace_pick(m.wins & trace_bit('name'), excluded.name, t.name),
        k.run_type,
        trace_pick(m.wins & trace_bit('dotted_order'), excluded.dotted_order, t.dotted_order),
        trace_pick(m.wins & trace_bit('end_time'), excluded.end_time, t.end_time),
        trace_pick(m.wins & trace_bit('error'), excluded.error, t.error),
        trace_pick(m.wins & trace_bit('inputs'), excluded.inputs, t.inputs),
        trace_pick(m.wins & trace_bit('outputs'), excluded.outputs, t.outputs),
        trace_pick(m.wins & trace_bit('events'), excluded.events, t.events),
        trace_pick(m.wins & trace_bit('serialized'), excluded.serialized, t.serialized),
        trace_pick(m.wins & trace_bit('extra'), excluded.extra, t.extra),
        trace_pick(m.wins & trace_bit('tags'), excluded.tags, t.tags),
        trace_pick(m.wins & trace_bit('reference_example_id'), excluded.reference_example_id, t.reference_example_id),
        trace_pick(m.wins & trace_bit('first_token_time'), excluded.first_token_time, t.first_token_time),
        u.model, u.prompt_tokens, u.completion_tokens, u.total_tokens,
        coalesce(c.prompt_cost, case p.side when 'new' then excluded.prompt_cost when 'old' then t.prompt_cost end),
        coalesce(c.completion_cost, case p.side when 'new' then excluded.completion_cost when 'old' then t.completion_cost end),
        coalesce(c.total_cost, case p.side when 'new' then excluded.total_cost when 'old' then t.total_cost end),
        case p.side when 'new' then excluded.usage_details when 'old' then t.usage_details else u.usage_details end,
        m.metadata, m.rank, (m.patched & ~trace_bit('priced')) | case when p.side is null then 0 else trace_bit('priced') end, m.ranks,
        (t.writes || excluded.writes)[greatest(1, cardinality(t.writes) - 30):], clock_timestamp()
      from trace_merge(t.rank, t.patched, t.ranks, t.metadata, excluded.rank, excluded.patched, excluded.ranks, excluded.metadata) m
      -- Computed costs do not merge. Those of one side stay when its model, provider and tokens equal the merged ones, the trace run
      -- is a model call, and no cost was sent.
      cross join lateral (
        select t.patched & trace_bit('priced') <> 0 as of_old, excluded.patched & trace_bit('priced') <> 0 as of_new,
          sent_usage_details(t.patched, t.usage_details) as old_details,
          sent_usage_details(excluded.patched, excluded.usage_details) as new_details
      ) computed
      cross join lateral (
        select trace_pick(m.wins & trace_bit('run_type'), excluded.run_type, t.run_type) as run_type
      ) k
      cross join lateral (
        select trace_pick(m.wins & trace_bit('model'), excluded.model, t.model) as model,
          trace_pick(m.wins & trace_bit('prompt_tokens'), excluded.prompt_tokens, t.prompt_tokens) as prompt_tokens,
          trace_pick(m.wins & trace_bit('completion_tokens'), excluded.completion_tokens, t.completion_tokens) as completion_tokens,
          trace_pick(m.wins & trace_bit('total_tokens'), excluded.total_tokens, t.total_tokens) as total_tokens,
          trace_pick(m.wins & trace_bit('usage_details'), computed.new_details, computed.old_details) as usage_details,
          m.metadata -> 'ls_provider' as provider
      ) u
      cross join lateral (
        select trace_pick(m.wins & trace_bit('prompt_cost'), case when not of_new then excluded.prompt_cost end, case when not of_old then t.prompt_cost end) as prompt_cost,
          trace_pick(m.wins & trace_bit('completion_cost'), case when not of_new then excluded.completion_cost end,
            case when not of_old then t.completion_cost end) as completion_cost,
          trace_pick(m.wins & trace_bit('total_cost'), case when not of_new then excluded.total_cost end, case when not of_old then t.total_cost end) as total_cost
      ) c
      cross join lateral (
        select case
          when k.run_type <> 'llm' or num_nonnulls(c.prompt_cost, c.completion_cost, c.total_cost) > 0 then null
          when of_new and u is not distinct from (excluded.model, excluded.prompt_tokens, excluded.completion_tokens,
            excluded.total_tokens, computed.new_details, excluded.metadata -> 'ls_provider') then 'new'
          when of_old and u is not distinct from (t.model, t.prompt_tokens, t.completion_tokens,
            t.total_tokens, computed.old_details, t.metadata -> 'ls_provider') then 'old'
        end as side
      ) p
    )
    where not t.writes @> excluded.writes
    returning t.day, t.session_id, t.start_time, t.end_time, t.run_type = 'llm' and t.total_tokens is not null as is_caller,
      t.updated_at > t.inserted_at and coalesce(t.run_type, 'llm') = 'llm' and t.model is not null and t.total_tokens is not null
        and num_nonnulls(t.prompt_cost, t.completion_cost, t.total_cost) = 0 as lacks_cost
  ), changed as (
    select distinct s.session_id, trace_hour_of(case when s.is_caller then trace_calls_from(s.start_time) else s.start_time end) as first,
      trace_hour_of(case when s.is_caller then trace_calls_until(s.start_time, s.end_time) else s.start_time end) as last
    from stored s where s.session_id is not null and s.start_time is not null and (isfinite(s.day) or s.is_caller)
  ), noted as (
    insert into trace_hour_changes (tenant_id, session_id, hour)
    select distinct p_tenant, c.session_id, h from changed c cross join lateral generate_series(c.first, c.last, interval '1 hour') h
  )
  select bool_or(s.lacks_cost) into v_lacks_cost from stored s;

  insert into trace_orphans (tenant_id, parent_run_id, id)
  select p_tenant, r.parent_run_id::uuid, r.id::uuid
  from unnest(p_id, p_parent_run_id, p_dotted_order) r (id, parent_run_id, dotted_order)
  where r.dotted_order is null and r.parent_run_id is not null
  on conflict do nothing;
  select array_agg(distinct o.parent_run_id) into v_relatives from trace_orphans o
  where o.tenant_id = p_tenant and o.parent_run_id = any ((p_id || p_parent_run_id)::uuid[]);
  if v_relatives is not null then perform adopt_orphans(p_tenant, v_relatives); end if;
  return case when v_lacks_cost then '{}'::date[] end;
end $$;

-- Executes under row level security, where the role exists.
do $$ begin
  alter function ingest_runs set role = svc_tenant;
exception when undefined_object or insufficient_privilege then null;
end $$;
