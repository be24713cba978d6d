-- Appends to the logs of these runs, and deletes events that the log keeps no longer.
create or replace function store_events(p_owners uuid[], p_events json) returns void
language plpgsql as $$
declare
  v_item record;
begin
  for v_item in
    select e.owner, e.first_id, e.last_id, e.events, e.keep_from
    from json_to_recordset(p_events)
      as e(owner uuid, first_id integer, last_id integer, events text, keep_from integer)
    where e.owner = any (p_owners)
  loop
    insert into run_events (run_id, first_id, last_id, events)
    values (v_item.owner, v_item.first_id, v_item.last_id, v_item.events)
    on conflict do nothing;
    if v_item.keep_from is not null then
      delete from run_events e where e.run_id = v_item.owner and e.last_id < v_item.keep_from;
    end if;
    perform pg_notify('svc', 'e:' || v_item.owner);
  end loop;
end
$$;
