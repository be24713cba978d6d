-- Deletes the default assistant of a graph that no worker executes, with its crons and ended runs. Returns the outcome:
-- 'deleted', 'missing', 'served' (a worker executes the graph) or 'in_flight' (it has runs that have not ended).
create or replace function prune_default_assistant(p_assistant_id uuid, p_within interval) returns text
language plpgsql as $$
declare
  v_graph_id text;
begin
  -- Waits for transactions that create a run of the assistant; the next statement sees those runs.
  select a.graph_id into v_graph_id from assistants a
  where a.assistant_id = p_assistant_id and a.is_default for update;
  if not found then return 'missing'; end if;
  if is_graph_served(v_graph_id, p_within, false) then return 'served'; end if;
  if exists (select 1 from runs r where r.assistant_id = p_assistant_id and r.status in ('pending', 'running')) then
    return 'in_flight';
  end if;
  delete from assistants a where a.assistant_id = p_assistant_id;
  return 'deleted';
end
$$;
