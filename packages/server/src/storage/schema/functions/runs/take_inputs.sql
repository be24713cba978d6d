-- Ends the pending runs of inputs that runs of this flush have taken. The flush contains the writes of the inputs, so an input is stored once: in the
-- state of the run that takes it, or in its own run. Locks the thread before its pending runs, as create_run() does.
create or replace function take_inputs(p_owners json, p_held uuid[]) returns void
language plpgsql as $$
declare
  v_item record;
  v_run_id uuid;
begin
  for v_item in
    select o.owner, o.taken, r.thread_id from json_to_recordset(p_owners) as o(owner uuid, taken uuid[])
    join runs r on r.run_id = o.owner
    where o.taken is not null and o.owner = any (p_held) order by r.thread_id
  loop
    perform 1 from threads t where t.thread_id = v_item.thread_id for update;
    foreach v_run_id in array v_item.taken loop
      perform 1 from runs r where r.run_id = v_run_id and r.status = 'pending' for update;
      continue when not found;
      insert into run_cancels values (v_run_id, 'interrupt', format('taken: run %s has absorbed the input', v_item.owner))
      on conflict on constraint run_cancels_pkey do update set action = excluded.action, reason = excluded.reason;
      perform end_run(v_run_id, 'interrupted', 'as_stored', null, null, null);
    end loop;
  end loop;
end
$$;
