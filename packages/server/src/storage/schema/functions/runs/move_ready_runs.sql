-- Moves up to p_limit queued runs of an assistant to the queue of its new graph. Skips runs that are being claimed: claim_runs() checks
-- the graph again. Returns how many were moved.
create or replace function move_ready_runs(p_assistant_id uuid, p_from text, p_to text, p_limit integer) returns integer
language plpgsql set enable_sort = off set enable_incremental_sort = off as $$
declare
  v_count integer;
begin
  with stale as (
    select r.run_id from runs r
    where r.status = 'pending' and r.waits_for = 'slot' and r.graph_id = p_from and r.assistant_id = p_assistant_id
    order by r.owner_hash, r.not_before, r.run_id limit p_limit for update skip locked
  )
  update runs r set graph_id = p_to from stale where r.run_id = stale.run_id;
  get diagnostics v_count = row_count;
  if v_count > 0 then perform pg_notify('svc', 'p'); end if;
  return v_count;
end
$$;
