-- Removes up to p_count blobs of a family that none of its checkpoints reaches. Null when it cannot be done now: a run
-- or an update of the family may refer to blobs that only it knows of. So all threads of the family are locked, none
-- may have a run under way, and runs that wait are kept from being claimed. Nothing is waited for.
create or replace function collect_blobs(p_space uuid, p_count integer) returns integer
language plpgsql as $$
declare
  v_threads uuid[];
  v_waiting uuid[];
  v_removed integer;
begin
  -- Seen before anything is locked: families that are too large, or at work.
  if (select count(*) from (select 1 from threads t where t.blob_space = p_space limit 1001) s) > 1000
     or exists (select 1 from threads t join runs r using (thread_id) where t.blob_space = p_space and r.status = 'running')
  then return null; end if;
  select coalesce(array_agg(s.thread_id), '{}') into v_threads from (
    select t.thread_id from threads t where t.blob_space = p_space
    order by t.thread_id limit 1000 for update skip locked
  ) s;
  -- Members that somebody else holds, and copies that came meanwhile.
  if (select count(*) from threads t where t.blob_space = p_space) <> cardinality(v_threads) then return null; end if;
  select coalesce(array_agg(s.run_id), '{}') into v_waiting from (
    select r.run_id from runs r where r.thread_id = any (v_threads) and r.status = 'pending'
    order by r.run_id limit 1000 for update skip locked
  ) s;
  if exists (
    select 1 from runs r
    where r.thread_id = any (v_threads) and r.status in ('pending', 'running') and r.run_id <> all (v_waiting)
  ) then return null; end if;
  -- Reading the references of more would keep the threads locked for too long.
  if (select count(*) from (
    select 1 from checkpoints c where c.thread_id = any (v_threads) limit 50001) s) > 50000 then return null; end if;

  -- Any uuid in a place that holds references counts as one: a text that looks like one keeps a blob, no harm done.
  with recursive texts as (
    select c.channels as text from checkpoints c where c.thread_id = any (v_threads)
    union all
    select c.wrote from checkpoints c where c.thread_id = any (v_threads) and c.wrote is not null
    union all
    select w.ref from checkpoint_writes w where w.thread_id = any (v_threads) and w.ref not like '=%'
    union all
    select v.ref from replaced_writes v where v.thread_id = any (v_threads) and v.ref not like '=%'
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
