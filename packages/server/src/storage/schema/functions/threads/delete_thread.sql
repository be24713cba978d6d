-- Deletes a thread: from now on it is not there. False when there was no such thread, or it does not pass p_access; then
-- nothing has changed. What it leaves in other tables is removed by sweep_deleted_thread, of which p_count rows here.
--
-- Runs in flight first: that waits for flushes which hold them. Run before thread is also the order in which a flush locks;
-- among the runs of a thread the oldest is the first, since one that is made meanwhile is the last (and where two deletions
-- still wait for each other, one is tried again). Processes that follow one of the runs are notified.
create or replace function delete_thread(p_thread_id uuid, p_access jsonpath default 'strict 1 == 1', p_count integer default 1000)
returns boolean
language plpgsql as $$
declare
  v_space uuid;
begin
  if not exists (select 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access) then return false; end if;
  perform 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')
  order by r.created_at, r.run_id for update;
  -- While that waited, the thread may have been deleted, and created again by another user.
  select t.blob_space into v_space from threads t
  where t.thread_id = p_thread_id and t.metadata @@ p_access for update;
  if not found then return false; end if;
  perform remove_runs(p_thread_id); -- also those that were created before the thread was locked
  delete from webhook_deliveries w where w.thread_id = p_thread_id and w.status = 'pending';
  insert into deleted_threads (thread_id, blob_space) values (p_thread_id, v_space);
  delete from threads t where t.thread_id = p_thread_id;
  perform sweep_deleted_thread(p_thread_id, p_count);
  return true;
end
$$;
