-- Checks whether something later depends on the effects of an ended run:
--   * a later run has continued in the same step, with writes on the newest checkpoint of this run or with checkpoints of its subgraphs, or
--     may still do so;
--   * a later checkpoint stores values as changes since checkpoints of this run (delta channels), or on top of its writes.
-- `heir` is the next run, which takes over the effects, even when only a run after it depends on them. It is null when the next run is in
-- flight, because a checkpoint of its own would look like one of an earlier attempt to the engine; and when a state update came next.
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
      -- The next run depends on this one until it has a checkpoint of its own.
      rests := v_next.found_head is not distinct from (
        select h.checkpoint_id from checkpoint_heads h where h.thread_id = p_run.thread_id and h.checkpoint_ns = '');
      exit;
    end if;
    exit when v_next.final_head is distinct from v_next.found_head;
    rests := exists (select 1 from checkpoint_writes w where w.run_id = v_next.run_id)
      -- The root head is the same, so these are checkpoints of subgraphs.
      or exists (select 1 from checkpoints c where c.thread_id = p_run.thread_id and c.run_id = v_next.run_id)
      or exists (select 1 from replaced_writes v where v.thread_id = p_run.thread_id and v.run_id = v_next.run_id);
    exit when rests;
    v_before := v_next.run_id; -- that run has no effects
  end loop;

  if not rests then
    rests := exists (
      select 1 from checkpoints c
      join checkpoints p on p.thread_id = c.thread_id and p.checkpoint_ns = c.checkpoint_ns and p.checkpoint_id = c.parent_id
      where c.thread_id = p_run.thread_id and c.run_id is distinct from p_run.run_id
        and (c.metadata like '%"counters_since_delta_snapshot"%'
             -- The engine does not count changes of state updates.
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
