-- Queues the webhook of a run; does nothing when the run has none. Called in the transaction that ends the run, after its row has the final
-- status and before the row may be deleted.
create or replace function queue_webhook(p_run_id uuid, p_values text) returns void
language sql as $$
  select pg_notify('svc', 'w');
  insert into webhook_deliveries (run_id, thread_id, url, metadata, run, values)
  select r.run_id, r.thread_id, r.webhook, r.metadata, json_build_object(
      'run_id', r.run_id,
      'thread_id', r.thread_id,
      'assistant_id', r.assistant_id,
      'created_at', to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'updated_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'started_at', to_char(r.started_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'ended_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'status', r.status,
      'metadata', r.metadata,
      'multitask_strategy', r.multitask_strategy,
      'kwargs', r.kwargs::json,
      'attempt', r.attempt,
      'error', r.error::json,
      'run_started_at', to_char(coalesce(r.started_at, r.created_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'run_ended_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text, p_values
  from runs r
  where r.run_id = p_run_id and r.webhook is not null
  on conflict (run_id) do nothing
$$;
