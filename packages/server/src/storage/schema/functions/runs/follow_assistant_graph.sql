-- Trigger: moves queued runs to the queue of the assistant's new graph. claim_runs() and repair_ready_graphs() move the rest of a
-- longer queue.
create or replace function follow_assistant_graph() returns trigger
language plpgsql as $$
begin
  perform move_ready_runs(new.assistant_id, old.graph_id, new.graph_id, 10000);
  return null;
end
$$;

create or replace trigger assistants_graph_changed after update of graph_id on assistants for each row
when (old.graph_id <> new.graph_id) execute function follow_assistant_graph();
