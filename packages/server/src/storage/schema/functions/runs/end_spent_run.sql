-- Ends a pending run that was cancelled, or whose attempts are used up. Returns its new status; null when neither applies. The caller holds
-- the row's lock.
create or replace function end_spent_run(p_run runs, p_attempts integer, out status text, out error text)
language plpgsql as $$
begin
  if exists (select 1 from run_cancels c where c.run_id = p_run.run_id) then
    status := 'interrupted';
  elsif p_run.attempt >= p_attempts then
    status := 'error';
    error := json_build_object('error', 'AttemptsExhausted', 'message',
      format('The run failed after %s attempts. The last one: %s', p_run.attempt,
             coalesce(p_run.lost_attempts -> -1 ->> 'message', 'it was lost')))::text;
  else
    return;
  end if;
  update runs r set lease_token = r.lease_token + 1 where r.run_id = p_run.run_id;
  perform end_run(p_run.run_id, status, case when error is null then 'as_stored' else 'error' end, null, error, null);
end
$$;
