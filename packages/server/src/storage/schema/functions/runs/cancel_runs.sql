-- Cancels the given runs of a thread, or all of its runs in flight. Returns the outcome of each run that exists, and nothing when the
-- thread (or the stateless run) does not pass p_access.
create or replace function cancel_runs(p_thread_id uuid, p_run_ids uuid[], p_action text, p_reason text,
                            p_access jsonpath)
returns table (run_id uuid, outcome text)
language plpgsql set enable_seqscan = off as $$
declare
  v_metadata jsonb;
begin
  select t.metadata into v_metadata from threads t where t.thread_id = p_thread_id for update;
  if not found then
    -- Stateless runs: their own rows are locked and checked. A deleted thread may still have rows of other runs, which have ended.
    perform 1 from runs r where r.thread_id = p_thread_id and r.temporary order by r.run_id for update;
    if exists (
      select 1 from runs r where r.thread_id = p_thread_id and (not r.temporary or (r.metadata @@ p_access) is not true)
    ) then return; end if;
  elsif v_metadata @@ p_access is not true then
    return;
  end if;
  return query select * from stop_runs(p_thread_id, p_run_ids, p_action, p_reason);
end
$$;
