-- Stores one flush of an executor: everything that its runs and state updates have to store, one JSON list per kind. Each item
-- names its owner: a run with a lease, or a state update. Nothing is stored for an owner that may not write any more. Returns
-- those owners.
-- Idempotent: a flush is sent again when its response was lost, and each owner is then judged by what is stored. An end is stored once
-- (stored_endings). Heads that were moved before are already in place, and all other items replace themselves.
-- Two rows with the same owner, or two owners that write to the same thread, must not be in one flush.
create or replace function commit_batch(p_owners json, p_heads json, p_blobs json, p_checkpoints json, p_writes json,
                             p_shapes json, p_events json, p_endings json) returns uuid[]
language plpgsql as $$
declare
  -- Owners whose end is stored by this transaction, and those whose end was stored by an earlier transmission of this flush.
  v_ending uuid[] := '{}';
  v_over uuid[] := '{}';
  v_runs uuid[];
  -- The owners that may write: runs and state updates.
  v_held uuid[];
begin
  if json_array_length(p_endings) > 0 then
    v_ending := claim_endings(p_owners, p_endings);
    v_over := array(select e.owner from json_to_recordset(p_endings) as e(owner uuid) where e.owner <> all (v_ending));
  end if;
  v_runs := lock_batch_runs(p_owners, v_over);
  v_held := v_runs || lock_state_updates(p_owners, v_over);
  v_held := move_heads(p_heads, v_held);

  -- At most once per attempt. A search in the text skips the update for most flushes, which carry no progress.
  if position('"progress"' in p_owners::text) > 0 then
    update runs r set progress_token = r.lease_token
    from json_to_recordset(p_owners) as o(owner uuid, progress boolean)
    where o.progress and r.run_id = o.owner and r.run_id = any (v_held);
  end if;

  if position('"taken"' in p_owners::text) > 0 then perform take_inputs(p_owners, v_held); end if;

  perform store_rows(v_held, v_runs, p_blobs, p_checkpoints, p_writes, p_shapes);
  perform store_events(v_held, p_events);
  perform store_endings(v_held, p_endings);

  if not v_ending <@ v_held then
    delete from stored_endings s using json_to_recordset(p_owners) as o(owner uuid, lease_token bigint)
    where s.owner = o.owner and s.lease_token = coalesce(o.lease_token, 0)
      and o.owner = any (v_ending) and o.owner <> all (v_held);
  end if;
  return array(select o.owner from json_to_recordset(p_owners) as o(owner uuid) where o.owner <> all (v_held || v_over));
end
$$;
