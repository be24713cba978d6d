-- Sets the status of a thread after a run without effects, or whose effects were undone: busy while other runs are in flight, else the
-- status that earlier runs have left.
create or replace function restore_thread(p_thread_id uuid) returns void
language sql as $$
  update threads t
  set status = case
        when exists (select 1 from runs r where r.thread_id = p_thread_id and r.status in ('pending', 'running')
                     and r.waits_for is distinct from 'answer') then 'busy'
        else t.settled_status end,
      updated_at = now()
  where t.thread_id = p_thread_id
$$;
