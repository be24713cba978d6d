-- The next p_limit assistants of a graph after p_after (null: from the first) that have runs waiting for a slot.
create or replace function ready_assistants(p_graph_id text, p_after uuid, p_limit integer) returns setof uuid
language plpgsql stable set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_at uuid := coalesce(p_after, '00000000-0000-0000-0000-000000000000');
begin
  for v_count in 1 .. p_limit loop
    select r.assistant_id into v_at from runs r
    where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = p_graph_id and r.assistant_id > v_at
    order by r.assistant_id, r.owner_hash, r.not_before, r.run_id limit 1;
    exit when not found;
    return next v_at;
  end loop;
end
$$;
