-- Deletes a thread whose time is over and that nothing uses; whether it did. Runs before the thread, as everywhere.
create or replace function expire_thread(p_thread_id uuid) returns boolean
language plpgsql as $$
begin
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  perform 1 from runs r where r.thread_id = p_thread_id order by r.created_at, r.run_id for update;
  perform 1 from threads t
  where t.thread_id = p_thread_id and t.ttl_strategy = 'delete' and t.expires_at <= now() for update;
  if not found then return false; end if;
  -- A run that was made before the thread was locked. Had it ended already, the time would not be over.
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  return delete_thread(p_thread_id);
end
$$;
