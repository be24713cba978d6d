-- True when a run of one of these graphs (of any graph when p_graphs is null) waits for a slot.
create or replace function is_run_ready(p_graphs text[]) returns boolean
language plpgsql stable set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_graph text;
begin
  -- Usually no run waits at all.
  perform 1 from runs r where r.status = 'pending' and r.waits_for = 'slot'
  order by r.graph_id, r.assistant_id, r.owner_hash, r.not_before, r.run_id limit 1;
  if not found or p_graphs is null then return found; end if;
  foreach v_graph in array p_graphs loop
    perform 1 from runs r where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = v_graph
    order by r.assistant_id, r.owner_hash, r.not_before, r.run_id limit 1;
    if found then return true; end if;
  end loop;
  return false;
end
$$;
