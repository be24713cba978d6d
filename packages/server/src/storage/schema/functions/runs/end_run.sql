-- Ends a run: updates its row and thread, closes its log and queues its webhook. Applies a cancel that was requested in time; a rollback
-- removes the run and its effects. The caller has checked that it may end the run (by the lease or the row's lock).
-- p_ending: the thread's new state: 'error', 'interrupted', null for neither, or 'as_stored' to derive it from the newest checkpoint.
-- A cancelled run with null may have ended before its executor read the checkpoint: its thread is derived from the newest checkpoint, too.
-- p_told: the log contains the error already.
-- p_stack: the stack of the error. It is stored with the run only: the thread, the log and the webhook do not get it.
create or replace function end_run(p_run_id uuid, p_status text, p_ending text, p_interrupts text, p_error text, p_values text,
                        p_told boolean default false, p_stack text default null) returns void
language plpgsql set enable_seqscan = off as $$
declare
  v_run runs%rowtype;
  v_action text;
  v_reason text;
  v_next integer;
  v_tells boolean := p_error is not null and not p_told;
  -- True when the run was ever claimed. A released attempt is not counted in `attempt`, but keeps the lease token.
  v_begun boolean;
begin
  update runs r set status = p_status, error = p_error, error_stack = p_stack, lease_until = null, updated_at = now(),
    -- Only the run itself moves the head until this transaction commits.
    final_head = (select h.checkpoint_id from checkpoint_heads h
                  where h.thread_id = r.thread_id and h.checkpoint_ns = '' and r.lease_token > 0)
  where r.run_id = p_run_id returning * into v_run;
  v_begun := v_run.lease_token > 0;
  if not v_run.temporary then
    perform 1 from threads t where t.thread_id = v_run.thread_id for update;
  end if;
  -- Read under the thread's lock: a cancel is either recorded by now, or will find that the run has ended.
  delete from run_cancels c where c.run_id = p_run_id returning c.action, c.reason into v_action, v_reason;
  if v_reason is not null and p_status = 'interrupted' then
    update runs r set cancel_reason = v_reason where r.run_id = p_run_id;
  end if;
  delete from run_users u where u.run_id = p_run_id;
  if v_run.webhook is not null then perform queue_webhook(p_run_id, p_values); end if;
  if v_run.log <> 'nothing' then
    select coalesce(max(e.last_id) + 1, 0) into v_next from run_events e where e.run_id = p_run_id;
    insert into run_events (run_id, first_id, last_id, events, outcome)
    values (p_run_id, v_next, v_next - 1 + v_tells::integer,
            case when v_tells then E'error\n' || p_error || E'\n' else '' end,
            json_build_object('status', p_status, 'error', p_error, 'values', p_values)::text)
    on conflict (run_id, first_id, last_id) do update set events = excluded.events, outcome = excluded.outcome;
    perform pg_notify('svc', 'e:' || p_run_id);
  end if;
  if v_run.temporary then
    -- The run of a cron is deleted: its cron keeps the reason of the failure.
    if p_error is not null then
      update crons c set last_error = left('The run failed: ' || (p_error::json ->> 'message'), 1000)
      from cron_ticks t where t.run_id = p_run_id and c.cron_id = t.cron_id;
    end if;
    -- A run with a log is kept as long as its log, since clients can still join it.
    if v_run.log = 'nothing' then delete from runs r where r.run_id = p_run_id; end if;
    return;
  end if;
  if v_action = 'rollback' then
    perform remove_run(p_run_id, v_run.thread_id);
    perform restore_thread(v_run.thread_id);
  elsif p_ending is distinct from 'as_stored' and (p_ending is not null or p_status <> 'interrupted') then
    perform settle_thread(v_run.thread_id, p_run_id, p_ending, coalesce(p_interrupts, kept_interrupts(p_run_id)), p_error);
  elsif v_begun then
    perform settle_stopped_thread(v_run.thread_id, p_run_id);
  else
    perform restore_thread(v_run.thread_id);
  end if;
  -- The thread is free now, unless this run was itself waiting for the thread.
  if v_run.waits_for = 'slot' or (v_run.waits_for is null and v_run.attempt > 0) then
    perform advance_thread(v_run.thread_id);
  end if;
end
$$;
