-- Deletes a thread's row; the thread then counts as deleted. False, without changes, when there is no such thread or it does not pass
-- p_access. sweep_deleted_thread() deletes its rows in other tables, p_count of them here.
--
-- Locks the runs in flight first, which waits for their flushes: run before thread is the lock order of flushes too. Locks the runs of a
-- thread oldest first, since a run that is created meanwhile is the newest. (If two deletions still deadlock, one is repeated.)
-- Notifies the processes that are subscribed to the runs.
create or replace function delete_thread(p_thread_id uuid, p_access jsonpath default 'strict 1 == 1', p_count integer default 1000)
returns boolean
language plpgsql as $$
declare
  v_space uuid;
begin
  if not exists (select 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access) then return false; end if;
  perform 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')
  order by r.created_at, r.run_id for update;
  -- The thread may have been deleted meanwhile, and created again by another user.
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
