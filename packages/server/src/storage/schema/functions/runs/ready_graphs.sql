-- The graphs of runs that wait for a slot, with one index lookup per graph.
create or replace function ready_graphs() returns text[]
language plpgsql stable set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_graphs text[] := '{}';
  v_graph text := '';
begin
  loop
    select r.graph_id into v_graph from runs r
    where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id > v_graph
    order by r.graph_id, r.assistant_id, r.owner_hash, r.not_before, r.run_id limit 1;
    if not found then return v_graphs; end if;
    v_graphs := v_graphs || v_graph;
  end loop;
end
$$;
