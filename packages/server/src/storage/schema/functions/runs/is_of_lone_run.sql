-- True when no thread may be created with this id: it is the placeholder id of a stateless run (or of its undelivered webhook), which
-- the creator of the thread could then read and cancel; or it belongs to a deleted thread whose rows are not all removed. A single
-- statement, so a thread and its first run are either both visible or both invisible.
create or replace function is_of_lone_run(p_thread_id uuid) returns boolean
language plpgsql stable set enable_seqscan = off as $$
begin
  return not exists (select 1 from threads t where t.thread_id = p_thread_id)
    and (exists (select 1 from runs r where r.thread_id = p_thread_id)
         or exists (select 1 from webhook_deliveries w where w.thread_id = p_thread_id)
         or is_being_deleted(p_thread_id, p_thread_id));
end
$$;
