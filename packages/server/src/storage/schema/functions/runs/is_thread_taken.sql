-- True when a run of the thread is running or waits for a slot; all other runs of the thread wait for it. A single statement, because
-- a run may change from one state to the other without the thread's lock.
create or replace function is_thread_taken(p_thread_id uuid) returns boolean
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
begin
  return exists (select 1 from runs r where r.thread_id = p_thread_id and r.status = 'running')
    or exists (
      select 1 from (
        select 1 from runs r
        where r.thread_id = p_thread_id and r.status = 'pending' and r.waits_for = 'slot' order by r.run_id limit 1) s);
end
$$;
