-- False when there was no such thread, or it does not pass p_access: then nothing has changed. Runs first: that waits for
-- flushes which hold them, and whose checkpoints the statements after it then see. Run before thread is also the order in
-- which a flush locks; among the runs of a thread the oldest is the first, since one that is made meanwhile is the last (and
-- where two deletions still wait for each other, one is tried again). Who follows one of the runs is told that it is gone.
create or replace function delete_thread(p_thread_id uuid, p_access jsonpath default 'strict 1 == 1') returns boolean
language plpgsql as $$
begin
  if not exists (select 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access) then return false; end if;
  perform 1 from runs r where r.thread_id = p_thread_id order by r.created_at, r.run_id for update;
  -- While that waited, the thread may have gone, and come again as somebody else's.
  perform 1 from threads t where t.thread_id = p_thread_id and t.metadata @@ p_access for update;
  if not found then return false; end if;
  perform remove_runs(p_thread_id); -- those too that were made before the thread was locked
  perform delete_checkpoints(p_thread_id);
  delete from threads t where t.thread_id = p_thread_id;
  return found;
end
$$;
