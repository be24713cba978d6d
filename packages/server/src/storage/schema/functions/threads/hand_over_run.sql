-- Deletes an ended run whose checkpoints and writes must stay, because later ones depend on them (find_heir). They now belong to the heir,
-- which also gets the state that the deleted run had recorded at its start. False, without changes, when nothing depends on them.
create or replace function hand_over_run(p_run_id uuid, p_thread_id uuid) returns boolean
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_rests boolean;
  v_heir uuid;
begin
  select * into v_run from runs r where r.run_id = p_run_id;
  select f.rests, f.heir into v_rests, v_heir from find_heir(v_run) f;
  if not v_rests then return false; end if;

  update checkpoints c set run_id = v_heir where c.thread_id = p_thread_id and c.run_id = p_run_id;
  update checkpoint_writes w set run_id = v_heir where w.thread_id = p_thread_id and w.run_id = p_run_id;
  update replaced_writes v set run_id = v_heir where v.thread_id = p_thread_id and v.run_id = p_run_id;
  update runs r
  set found_head = v_run.found_head, found_status = v_run.found_status, found_interrupts = v_run.found_interrupts,
      found_error = v_run.found_error
  where r.run_id = v_heir;
  update runs r set found_by = v_run.found_by where r.thread_id = p_thread_id and r.found_by = p_run_id;
  update threads t set settled_by = v_run.found_by where t.thread_id = p_thread_id and t.settled_by = p_run_id;
  delete from runs r where r.run_id = p_run_id;
  return true;
end
$$;
