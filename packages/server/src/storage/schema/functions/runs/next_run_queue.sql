-- Selects the queue to claim from next: an assistant and an owner with runs that wait for a slot. Examines the next 16 assistants after the
-- one that was served last, in the order of graphs and ids, and takes the first of those with the fewest running runs; then the same among
-- the owners of that assistant. The next call continues after the selected queue. So the cost does not depend on the number of queues
-- or runs, and every queue gets its turn. `is_only`: there is no other queue.
--
-- p_assistants and p_owners: for each assistant the owner that was served last, in the order of service. p_passed: queues
-- ('assistant owner') and assistants without claimable runs.
--
-- With sorts turned off, the planner can only use the index runs_ready, independent of its statistics when it makes the plan.
create or replace function next_run_queue(
  p_graphs text[], p_assistants uuid[], p_owners integer[], p_passed text[],
  out graph_id text, out assistant_id uuid, out owner_hash integer, out is_only boolean)
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_before_all constant uuid := '00000000-0000-0000-0000-000000000000';
  v_served uuid := p_assistants[cardinality(p_assistants)];
  v_served_graph text := (select a.graph_id from assistants a where a.assistant_id = v_served);
  v_graph text := coalesce(v_served_graph, '');
  v_at uuid := case when v_served_graph is null then v_before_all else v_served end;
  v_owner integer;
  v_served_owner integer;
  v_running integer;
  v_least integer;
  v_looked integer := 0;
begin
  <<turns>>
  for v_turn in 0 .. 1 loop
    loop
      -- The second turn ends at the assistant that was served last.
      select r.graph_id, r.assistant_id into v_graph, v_at from runs r
      where r.status = 'pending' and r.waits_for = 'slot' and (r.graph_id, r.assistant_id) > (v_graph, v_at)
        and (v_turn = 0 or (r.graph_id, r.assistant_id) <= (v_served_graph, v_served))
      order by r.graph_id, r.assistant_id, r.owner_hash, r.not_before, r.run_id limit 1;
      exit when not found;
      if v_graph <> all (p_graphs) then
        select min(g) into v_graph from unnest(p_graphs) g where g > v_graph;
        exit when v_graph is null;
        v_at := v_before_all;
        continue;
      end if;
      continue when v_at::text = any (p_passed);
      select count(*) into v_running from (
        select 1 from runs r where r.status = 'running' and r.assistant_id = v_at order by r.owner_hash limit 1000) s;
      if v_least is null or v_running < v_least then
        v_least := v_running;
        graph_id := v_graph;
        assistant_id := v_at;
      end if;
      v_looked := v_looked + 1;
      exit turns when v_looked = 16 or (v_least = 0 and v_looked > 1);
    end loop;
    exit when v_served_graph is null;
    v_graph := '';
    v_at := v_before_all;
  end loop;
  if assistant_id is null then return; end if;
  is_only := v_looked = 1;

  -- A random start for an assistant that was not served lately: otherwise owners with low hashes would always be first.
  v_served_owner := coalesce(p_owners[array_position(p_assistants, assistant_id)],
                             floor(random() * 4294967296)::bigint - 2147483648);
  v_least := null;
  v_looked := 0;
  v_owner := v_served_owner;
  <<turns>>
  for v_turn in 0 .. 1 loop
    loop
      if v_owner is null then
        select r.owner_hash into v_owner from runs r
        where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = next_run_queue.graph_id
          and r.assistant_id = next_run_queue.assistant_id
        order by r.owner_hash, r.not_before, r.run_id limit 1;
      else
        select r.owner_hash into v_owner from runs r
        where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = next_run_queue.graph_id
          and r.assistant_id = next_run_queue.assistant_id and r.owner_hash > v_owner
        order by r.owner_hash, r.not_before, r.run_id limit 1;
      end if;
      exit when v_owner is null or (v_turn = 1 and v_owner > v_served_owner);
      continue when assistant_id || ' ' || v_owner = any (p_passed);
      select count(*) into v_running from (
        select 1 from runs r
        where r.status = 'running' and r.assistant_id = next_run_queue.assistant_id and r.owner_hash = v_owner limit 1000) s;
      if v_least is null or v_running < v_least then
        v_least := v_running;
        owner_hash := v_owner;
      end if;
      v_looked := v_looked + 1;
      exit turns when v_looked = 16 or (v_least = 0 and v_looked > 1);
    end loop;
    v_owner := null;
  end loop;
  is_only := is_only and v_looked = 1;
end
$$;
