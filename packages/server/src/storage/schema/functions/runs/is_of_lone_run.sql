-- Whether the id stands for a run without a thread, or for what is left to tell of one: nobody may make a thread of it, or
-- it would be theirs to read and to stop. One snapshot: a thread and its first run, made a moment ago, are seen both or not
-- at all.
create or replace function is_of_lone_run(p_thread_id uuid) returns boolean
language sql stable as $$
  select not exists (select 1 from threads t where t.thread_id = p_thread_id)
    and (exists (select 1 from runs r where r.thread_id = p_thread_id)
         or exists (select 1 from webhook_deliveries w where w.thread_id = p_thread_id))
$$;
