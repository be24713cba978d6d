-- Whether something that came later rests on what a run, which is over, has left:
--   * a later run has gone on in the same step, with writes on the newest checkpoint that the run left, or may do so;
--   * a later checkpoint holds values as changes since the run's checkpoints (delta channels), or on top of its writes.
-- The next run inherits, also when only a run after that one rests on it. No run inherits when the next one is in flight,
-- since a checkpoint of its own would tell the engine that an earlier attempt made it; nor when a state update came next.
create or replace function find_heir(p_run runs) returns table (rests boolean, heir uuid)
language plpgsql stable as $$
declare
  v_next runs%rowtype;
  v_before uuid := p_run.run_id;
begin
  rests := false;
  loop
    select * into v_next from runs r
    where r.thread_id = p_run.thread_id and r.found_by = v_before and r.run_id <> v_before limit 1;
    exit when not found or v_next.found_head is distinct from p_run.final_head;
    if v_next.status in ('pending', 'running') then
      -- It rests on the run as long as it has no checkpoint of its own.
      rests := v_next.found_head is not distinct from (
        select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_run.thread_id and h.checkpoint_ns = '');
      exit;
    end if;
    exit when v_next.final_head is distinct from v_next.found_head;
    rests := exists (select 1 from checkpoint_writes w where w.run_id = v_next.run_id)
      or exists (select 1 from replaced_writes v where v.thread_id = p_run.thread_id and v.run_id = v_next.run_id);
    exit when rests;
    v_before := v_next.run_id; -- it has left nothing
  end loop;

  if not rests then
    rests := exists (
      select 1 from checkpoints c
      join checkpoints p on p.thread_id = c.thread_id and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_id
      where c.thread_id = p_run.thread_id and c.run_id is distinct from p_run.run_id
        and (c.metadata like '%"counters_since_delta_snapshot"%'
             -- The engine counts no changes of state updates.
             or (c.run_id is null and p.metadata like '%"counters_since_delta_snapshot"%'))
        and (p.run_id = p_run.run_id or exists (
          select 1 from checkpoint_writes w
          where w.run_id = p_run.run_id and w.thread_id = p.thread_id and w.checkpoint_ns = p.checkpoint_ns
            and w.checkpoint_id = p.checkpoint_id)));
  end if;
  if rests then
    select r.run_id into heir from runs r
    where r.thread_id = p_run.thread_id and r.found_by = p_run.run_id and r.status not in ('pending', 'running') limit 1;
  end if;
  return next;
end
$$;
