-- Deletes up to p_count blobs of a blob space that no checkpoint references. Returns null when that is not possible now: a run
-- or state update may hold references to blobs that no checkpoint contains yet. So all threads of the space are locked, none of
-- them may have a running run, and pending runs are locked so that they cannot be claimed. Never waits for a lock.
create or replace function collect_blobs(p_space uuid, p_count integer) returns integer
language plpgsql as $$
declare
  v_threads uuid[];
  v_waiting uuid[];
  v_removed integer;
begin
  -- Checked without locks: spaces that are too large, or have a running run.
  if (select count(*) from (select 1 from threads t where t.blob_space = p_space limit 1001) s) > 1000
     or exists (select 1 from threads t join runs r using (thread_id) where t.blob_space = p_space and r.status = 'running')
  then return null; end if;
  select coalesce(array_agg(s.thread_id), '{}') into v_threads from (
    select t.thread_id from threads t where t.blob_space = p_space
    order by t.thread_id limit 1000 for update skip locked
  ) s;
  -- Threads that others have locked, and copies that were made meanwhile.
  if (select count(*) from threads t where t.blob_space = p_space) <> cardinality(v_threads) then return null; end if;
  select coalesce(array_agg(s.run_id), '{}') into v_waiting from (
    select r.run_id from runs r where r.thread_id = any (v_threads) and r.status = 'pending'
    order by r.run_id limit 1000 for update skip locked
  ) s;
  if exists (
    select 1 from runs r
    where r.thread_id = any (v_threads) and r.status in ('pending', 'running') and r.run_id <> all (v_waiting)
  ) then return null; end if;
  -- With more checkpoints, the threads would stay locked for too long.
  if (select count(*) from (
    select 1 from checkpoints c where c.thread_id = any (v_threads) limit 50001) s) > 50000 then return null; end if;

  -- Every uuid in these columns counts as a reference. A false match only keeps a blob. Recorded states (storage/deployment/checkpoints/recorded-state.ts)
  -- have references inside a small value.
  with recursive texts as (
    select c.channels as text from checkpoints c where c.thread_id = any (v_threads)
    union all
    select c.wrote from checkpoints c where c.thread_id = any (v_threads) and c.wrote is not null
    union all
    select w.ref from checkpoint_writes w where w.thread_id = any (v_threads) and (w.ref not like '=%' or w.task_id = '__state__')
    union all
    select v.ref from replaced_writes v where v.thread_id = any (v_threads) and (v.ref not like '=%' or v.task_id = '__state__')
  ), roots as materialized (
    select distinct (m.match)[1]::uuid as hash
    from texts t, regexp_matches(t.text, '[#[,]([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})', 'g') as m(match)
  ), reached (hash) as (
    select r.hash from roots r
    union
    select child.hash from reached
    join blobs b on b.space = p_space and b.hash = reached.hash
    cross join lateral unnest(b.refs) as child(hash)
  ), removed as (
    delete from blobs b
    where b.space = p_space and b.hash in (
      select u.hash from blobs u
      where u.space = p_space and not exists (select 1 from reached r where r.hash = u.hash)
      limit p_count)
    returning 1
  )
  select count(*) into v_removed from removed;

  if v_removed > 0 then
    update threads t set removals = t.removals + 1 where t.blob_space = p_space;
  end if;
  if v_removed < p_count then delete from blob_garbage g where g.blob_space = p_space; end if;
  return v_removed;
end
$$;
