-- Checks the next 1,000 assistants after p_after that have runs in the queue of a graph, and moves the runs of assistants that have another
-- graph by now: those beyond the 10,000 that the change of the graph has moved, and those that were being queued or claimed at that
-- time. A worker of the former graph moves them too, but there may be none. Returns where to continue (null at the end), and how many runs
-- were moved.
create or replace function repair_ready_graphs(p_graph_id text, p_after uuid, out last uuid, out repaired integer)
language plpgsql as $$
declare
  v_assistants uuid[] := array(select ready_assistants(p_graph_id, p_after, 1000));
  v_stale record;
begin
  repaired := 0;
  last := v_assistants[1000];
  for v_stale in
    select a.assistant_id, a.graph_id from assistants a
    where a.assistant_id = any (v_assistants) and a.graph_id <> p_graph_id
  loop
    repaired := repaired + move_ready_runs(v_stale.assistant_id, p_graph_id, v_stale.graph_id, 1000);
  end loop;
end
$$;
