-- Deletes all checkpoints except p_kept ([{checkpoint_ns, checkpoint_id}]), oldest first and at most p_count per call. Returns
-- 'done', 'more' (call again), 'busy' (the thread has runs in flight), 'changed' (a head has moved since p_mark was read) or
-- 'missing'.
create or replace function prune_thread(p_thread_id uuid, p_mark text, p_kept json, p_count integer) returns text
language plpgsql as $$
declare
  v_removed integer;
begin
  perform 1 from threads t where t.thread_id = p_thread_id for update;
  if not found then return 'missing'; end if;
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return 'busy';
  end if;
  if heads_mark(p_thread_id) <> p_mark then return 'changed'; end if;

  with kept as materialized (
    select k.checkpoint_ns, k.checkpoint_id
    from json_to_recordset(p_kept) as k(checkpoint_ns text, checkpoint_id uuid)
  ), rest as (
    select c.checkpoint_ns, c.checkpoint_id from checkpoints c
    where c.thread_id = p_thread_id
      and not exists (select 1 from kept k where k.checkpoint_ns = c.checkpoint_ns and k.checkpoint_id = c.checkpoint_id)
    order by c.checkpoint_id limit p_count
  ), written as (
    delete from checkpoint_writes w using rest r
    where w.thread_id = p_thread_id and w.checkpoint_ns = r.checkpoint_ns and w.checkpoint_id = r.checkpoint_id
  ), replaced as (
    delete from replaced_writes v using rest r
    where v.thread_id = p_thread_id and v.checkpoint_ns = r.checkpoint_ns and v.checkpoint_id = r.checkpoint_id
  ), gone as (
    delete from checkpoints c using rest r
    where c.thread_id = p_thread_id and c.checkpoint_ns = r.checkpoint_ns and c.checkpoint_id = r.checkpoint_id
    returning 1
  )
  select count(*) into v_removed from gone;

  delete from checkpoint_heads h
  where h.thread_id = p_thread_id and not exists (
    select 1 from checkpoints c
    where c.thread_id = p_thread_id and c.checkpoint_ns = h.checkpoint_ns and c.checkpoint_id = h.checkpoint_id);
  if v_removed >= p_count then return 'more'; end if;

  -- Writes whose checkpoint was never stored, as durability `exit` leaves them.
  delete from checkpoint_writes w where w.ctid = any (array(
    select o.ctid from checkpoint_writes o
    where o.thread_id = p_thread_id and not exists (
      select 1 from checkpoints c
      where c.thread_id = p_thread_id and c.checkpoint_ns = o.checkpoint_ns and c.checkpoint_id = o.checkpoint_id)
    limit p_count));
  get diagnostics v_removed = row_count;
  if v_removed >= p_count then return 'more'; end if;
  update checkpoints c set parent_id = null
  where c.thread_id = p_thread_id and c.parent_id is not null and not exists (
    select 1 from checkpoints p
    where p.thread_id = p_thread_id and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_id);
  return 'done';
end
$$;
