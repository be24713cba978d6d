-- Locks and returns the oldest run of a queue that no other worker is claiming.
create or replace function lock_ready_run(p_graph_id text, p_assistant_id uuid, p_owner_hash integer) returns setof runs
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
begin
  return query
    select r.* from runs r
    where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = p_graph_id
      and r.assistant_id = p_assistant_id and r.owner_hash = p_owner_hash
    order by r.not_before, r.run_id limit 1 for update skip locked;
end
$$;
