-- Removes a run that is over and that a later one rests on: one that goes on in the same step, with writes on the newest
-- checkpoint that the first run left. What the first run left stays, and belongs to the later run; to none when the
-- later one is still in flight, since checkpoints of its own would tell its executor that an earlier attempt made them.
-- False when no run rests on it; then nothing has changed.
create or replace function hand_over_run(p_run_id uuid, p_thread_id uuid) returns boolean
language plpgsql as $$
declare
  v_run runs%rowtype;
  v_next runs%rowtype;
  v_before uuid := p_run_id;
  v_in_flight boolean;
  v_heir uuid;
begin
  select * into v_run from runs r where r.run_id = p_run_id;
  if v_run.found_status is null then return false; end if;
  loop
    select * into v_next from runs r where r.thread_id = p_thread_id and r.found_by = v_before and r.run_id <> v_before limit 1;
    if not found or v_next.found_head is distinct from v_run.final_head then return false; end if;
    v_in_flight := v_next.status in ('pending', 'running');
    if v_in_flight then
      -- It has moved on to a checkpoint of its own.
      if (select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_thread_id and h.checkpoint_ns = '')
         is distinct from v_next.found_head then return false; end if;
      exit;
    end if;
    if v_next.final_head is distinct from v_next.found_head then return false; end if;
    exit when exists (select 1 from checkpoint_writes w where w.run_id = v_next.run_id);
    v_before := v_next.run_id; -- it has left nothing
  end loop;

  v_heir := case when not v_in_flight then v_next.run_id end;
  update checkpoints c set run_id = v_heir where c.thread_id = p_thread_id and c.run_id = p_run_id;
  update checkpoint_writes w set run_id = v_heir where w.thread_id = p_thread_id and w.run_id = p_run_id;
  update replaced_writes v set run_id = v_heir where v.thread_id = p_thread_id and v.run_id = p_run_id;
  if not v_in_flight then
    update runs r
    set found_head = v_run.found_head, found_status = v_run.found_status, found_interrupts = v_run.found_interrupts,
        found_error = v_run.found_error
    where r.run_id = v_heir;
  end if;
  update runs r set found_by = v_run.found_by where r.thread_id = p_thread_id and r.found_by = p_run_id;
  update threads t set settled_by = v_run.found_by where t.thread_id = p_thread_id and t.settled_by = p_run_id;
  delete from runs r where r.run_id = p_run_id;
  return true;
end
$$;
