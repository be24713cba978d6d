-- Locks the threads of the state updates of a flush, and returns the updates that may be stored: their threads have no runs in flight, and
-- no removals since the update began.
create or replace function lock_state_updates(p_owners json, p_over uuid[]) returns uuid[]
language plpgsql as $$
declare
  v_held uuid[] := '{}';
  v_item record;
begin
  for v_item in
    select o.owner, o.thread_id, o.removals
    from json_to_recordset(p_owners) as o(owner uuid, thread_id uuid, removals integer)
    where o.thread_id is not null and o.owner <> all (p_over) order by o.thread_id
  loop
    perform 1 from threads t
    where t.thread_id = v_item.thread_id and t.removals = coalesce(v_item.removals, t.removals) for update;
    if found and not exists (
      select 1 from runs r where r.thread_id = v_item.thread_id and r.status in ('pending', 'running')
    ) then
      v_held := v_held || v_item.owner;
    end if;
  end loop;
  return v_held;
end
$$;
