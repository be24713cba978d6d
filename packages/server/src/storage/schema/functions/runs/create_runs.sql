-- Creates the runs of several requests in one transaction, as create_run() does for each of them. `n` is the position in the list.
-- 'contended': another transaction has locked the run's thread or its id (see create_run), or the run would end queued runs, which may be many
-- or locked. It must be created alone, so that the others do not wait for it.
-- All other locks are short; if one is not, the caller creates each run alone.
create or replace function create_runs(p_runs json) returns table (
  n integer, outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamptz,
  graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
  blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, stopping uuid[])
language plpgsql set enable_seqscan = off set lock_timeout = '1s' as $$
declare
  v_locked uuid[];
  v_run record;
begin
  -- In one order, since several transactions do this at the same time.
  select coalesce(array_agg(l.id), '{}') into v_locked
  from (select t.thread_id as id from threads t
        -- Not `in (select …)`: planned while the table was small, it would read the whole index.
        where t.thread_id = any (array(select r.thread_id from json_to_recordset(p_runs) as r(thread_id uuid)))
        order by t.thread_id for update skip locked) l;
  for v_run in
    select * from json_to_recordset(p_runs) as r (
      n integer, run_id uuid, thread_id uuid, assistant_id uuid, metadata jsonb, kwargs text, strategy text, create_thread boolean,
      claim boolean, lease_ms float8, delay_ms float8, worker_id uuid, log text, resumable boolean, webhook text, keyed boolean,
      access text, assistant_access text, sealed_user text, graphs json, served_within_ms float8, answered_state_at timestamptz)
  loop
    if (v_run.thread_id <> all (v_locked) and exists (select 1 from threads t where t.thread_id = v_run.thread_id))
       or (v_run.strategy in ('interrupt', 'rollback')
           and exists (select 1 from runs r where r.thread_id = v_run.thread_id and r.status = 'pending'))
       or (v_run.keyed and not pg_try_advisory_xact_lock(hashtextextended('run ' || v_run.run_id, 0))) then
      n := v_run.n;
      outcome := 'contended';
      return next;
    else
      return query select v_run.n, c.* from create_run(
        v_run.run_id, v_run.thread_id, v_run.assistant_id, v_run.metadata, v_run.kwargs, v_run.strategy, v_run.create_thread,
        v_run.claim, v_run.lease_ms * interval '1 ms', v_run.delay_ms * interval '1 ms', v_run.worker_id, v_run.log, v_run.resumable,
        v_run.webhook, v_run.keyed, v_run.access::jsonpath, v_run.assistant_access::jsonpath, v_run.sealed_user,
        case when json_typeof(v_run.graphs) = 'array' then array(select json_array_elements_text(v_run.graphs)) end,
        v_run.served_within_ms * interval '1 ms', v_run.answered_state_at) c;
    end if;
  end loop;
end
$$;
