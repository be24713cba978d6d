-- Appends a lost attempt to the list of a run; the list keeps the last 20. Returns the list.
create or replace function lost_attempt(p_run runs, p_message text, p_charged boolean, p_worker text) returns jsonb
language sql stable as $$
  select case when jsonb_array_length(p_run.lost_attempts) < 20 then p_run.lost_attempts else p_run.lost_attempts - 0 end
    || jsonb_build_object('attempt', p_run.attempt, 'started_at', p_run.started_at, 'at', now(), 'message', p_message,
                          'charged', p_charged, 'lease_token', p_run.lease_token, 'worker', p_worker)
$$;
