-- Ends these runs and state updates.
create or replace function store_endings(p_owners uuid[], p_endings json) returns void
language plpgsql as $$
declare
  v_item record;
begin
  for v_item in
    select e.owner, e.thread_id, e.status, e.ending, e.interrupts, e.error, e."values", e.told, e.stack
    from json_to_recordset(p_endings)
      as e(owner uuid, thread_id uuid, status text, ending text, interrupts text, error text, "values" text, told boolean,
              stack text)
    where e.owner = any (p_owners)
  loop
    if v_item.status is not null then
      perform end_run(v_item.owner, v_item.status, v_item.ending, v_item.interrupts, v_item.error, v_item."values", v_item.told,
                      v_item.stack);
    else
      -- Later runs depend on the update, so removing an earlier run must not change the thread any more.
      -- `ending` is null for an update that leaves the status as it is.
      update threads t
      set interrupts = coalesce(v_item.interrupts, t.interrupts),
          status = coalesce(v_item.ending, t.status),
          settled_status = coalesce(v_item.ending, t.settled_status),
          error = case when v_item.ending is null then t.error end,
          settled_by = null, updated_at = now(), state_updated_at = now()
      where t.thread_id = v_item.thread_id;
    end if;
  end loop;
end
$$;
