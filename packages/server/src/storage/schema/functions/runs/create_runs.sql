-- Creates the runs of several requests in one transaction, as create_run() does for each of them. `n` is the position in the list, from 0.
-- 'contended': another transaction has locked the run's thread or its id (see create_run), or the run would end queued runs, which may be many
-- or locked. It must be created alone, so that the others do not wait for it.
-- All other locks are short; if one is not, the caller creates each run alone.
create or replace function create_runs(p_runs json, p_kwargs text[]) returns table (
  n integer, outcome text, thread_id uuid, status text, lease_token bigint, created_at timestamptz,
  graph_id text, assistant_config jsonb, assistant_context jsonb, assistant_metadata jsonb,
  blob_space uuid, thread_config jsonb, thread_metadata jsonb, head uuid, log text, has_inputs boolean, stopping uuid[])
language plpgsql set enable_seqscan = off set lock_timeout = '1s' as $$
declare
  v_runs new_run[] := array(select r from json_populate_recordset(null::new_run, p_runs) as r);
  v_locked uuid[];
  v_run new_run;
begin
  -- In one order, since several transactions do this at the same time.
  select coalesce(array_agg(l.id), '{}') into v_locked
  from (select t.thread_id as id from threads t
        -- Not `in (select …)`: planned while the table was small, it would read the whole index.
        where t.thread_id = any (array(select r.thread_id from unnest(v_runs) as r))
        order by t.thread_id for update skip locked) l;
  for v_n in 1..cardinality(v_runs) loop
    v_run := v_runs[v_n];
    if (v_run.thread_id <> all (v_locked) and exists (select 1 from threads t where t.thread_id = v_run.thread_id))
       or (v_run.multitask_strategy in ('interrupt', 'rollback')
           and exists (select 1 from runs r where r.thread_id = v_run.thread_id and r.status = 'pending'))
       or (v_run.keyed and not pg_try_advisory_xact_lock(hashtextextended('run ' || v_run.run_id, 0))) then
      n := v_n - 1;
      outcome := 'contended';
      return next;
    else
      return query select v_n - 1, c.* from create_run(v_run, p_kwargs[v_n]) as c;
    end if;
  end loop;
end
$$;
