-- Deletes up to p_count rows of a deleted thread. True when there may be more. In this order:
--   state ──▶ logs ──▶ webhook deliveries ──▶ runs ──▶ blobs, unless copies share them ──▶ the row in deleted_threads
create or replace function sweep_deleted_thread(p_thread_id uuid, p_count integer) returns boolean
language plpgsql set plan_cache_mode = force_custom_plan as $$
declare
  v_space uuid;
  v_left integer := p_count;
  v_removed integer;
begin
  select d.blob_space into v_space from deleted_threads d where d.thread_id = p_thread_id for update;
  if not found then return false; end if;

  v_left := v_left - delete_state(p_thread_id, v_left);
  if v_left <= 0 then return true; end if;

  delete from run_events e where e.ctid = any (array(
    select l.ctid from runs r join run_events l using (run_id) where r.thread_id = p_thread_id limit v_left));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  if v_left <= 0 then return true; end if;

  delete from webhook_deliveries w where w.ctid = any (array(
    select d.ctid from webhook_deliveries d where d.thread_id = p_thread_id limit v_left));
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  if v_left <= 0 then return true; end if;

  -- A locked run is being deleted by another transaction, which may wait for the thread.
  with old as (
    select r.run_id from runs r where r.thread_id = p_thread_id limit v_left for update skip locked
  )
  delete from runs r using old where r.run_id = old.run_id;
  get diagnostics v_removed = row_count;
  v_left := v_left - v_removed;
  if v_left <= 0 or exists (select 1 from runs r where r.thread_id = p_thread_id) then return true; end if;

  -- Blocks the creation of threads in this blob space meanwhile (refuse_deleted_thread).
  perform pg_advisory_xact_lock(blob_space_lock(v_space));
  if exists (select 1 from threads t where t.blob_space = v_space) then
    insert into blob_garbage as b (blob_space) values (v_space)
    on conflict (blob_space) do update set due_at = least(excluded.due_at, b.since + interval '10 minutes');
  elsif delete_values(v_space, v_left) >= v_left then
    return true;
  end if;
  delete from deleted_threads d where d.thread_id = p_thread_id;
  return false;
end
$$;
