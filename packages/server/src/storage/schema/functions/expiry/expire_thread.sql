-- Deletes a thread that has expired and has no runs in flight. Returns whether it was deleted.
create or replace function expire_thread(p_thread_id uuid) returns boolean
language plpgsql as $$
begin
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  perform 1 from threads t
  where t.thread_id = p_thread_id and t.ttl_strategy = 'delete' and t.expires_at <= now() for update;
  if not found then return false; end if;
  -- A run that was created before the thread was locked. (If it had ended already, the thread would not be expired.)
  if exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')) then
    return false;
  end if;
  return delete_thread(p_thread_id);
end
$$;
