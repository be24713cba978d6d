-- What an executor needs to execute these runs. `next_event_id` is null for a run without a log.
create or replace function run_settings(p_run_ids uuid[])
returns table (run_id uuid, thread_id uuid, status text, lease_token bigint, created_at timestamptz, graph_id text,
               assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
               blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text,
               next_event_id integer, sealed_user text, webhook text, cancelled boolean, has_inputs boolean)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
    select r.run_id, r.thread_id, r.status, r.lease_token, r.created_at, a.graph_id, a.config, a.context, a.metadata,
      t.blob_space, t.config, t.metadata, h.checkpoint_id, r.log,
      (select max(e.last_id) + 1 from run_events e where e.run_id = r.run_id),
      (select u.sealed from run_users u where u.run_id = r.run_id), r.webhook,
      exists (select 1 from run_cancels c where c.run_id = r.run_id),
      exists (select 1 from runs i where i.thread_id = r.thread_id and i.status = 'pending' and i.input_of is not null)
    from runs r join assistants a using (assistant_id)
    left join threads t on t.thread_id = r.thread_id
    left join checkpoint_heads h on h.thread_id = r.thread_id and h.checkpoint_ns = ''
    where r.run_id = any (p_run_ids);
end
$$;
