-- Moves the heads of these owners by compare-and-set, and returns the owners whose heads are in place.
create or replace function move_heads(p_heads json, p_owners uuid[]) returns uuid[]
language plpgsql as $$
declare
  v_held uuid[] := p_owners;
  v_item record;
begin
  -- All heads of an owner are compared before one of them is moved. An owner with one head needs no comparison before.
  for v_item in
    select s.* from (
      select h.*, count(*) over (partition by h.owner) as heads
      from json_to_recordset(p_heads)
        as h(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, expected uuid)
      where h.owner = any (v_held)
    ) s
    where s.heads > 1
  loop
    perform 1 from checkpoint_heads h
    where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
      and h.checkpoint_id is distinct from v_item.checkpoint_id and h.checkpoint_id is distinct from v_item.expected
    for update;
    if found or v_item.expected is not null and not exists (
      select 1 from checkpoint_heads h where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
    ) then
      v_held := array_remove(v_held, v_item.owner);
    end if;
  end loop;

  for v_item in
    select h.owner, h.thread_id, h.checkpoint_ns, h.checkpoint_id, h.expected,
           count(*) over (partition by h.owner) as heads
    from json_to_recordset(p_heads)
      as h(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, expected uuid)
    where h.owner = any (v_held)
  loop
    if v_item.expected is null then
      insert into checkpoint_heads values (v_item.thread_id, v_item.checkpoint_ns, v_item.checkpoint_id)
      on conflict do nothing;
    else
      update checkpoint_heads h set checkpoint_id = v_item.checkpoint_id
      where h.thread_id = v_item.thread_id and h.checkpoint_ns = v_item.checkpoint_ns
        and h.checkpoint_id = v_item.expected;
    end if;
    if not found and not exists (
      select 1 from checkpoint_heads h where h.thread_id = v_item.thread_id
        and h.checkpoint_ns = v_item.checkpoint_ns and h.checkpoint_id = v_item.checkpoint_id
    ) then
      if v_item.heads > 1 then
        -- Another transaction has moved the head since the comparison. The flush is repeated, because another head may have been moved here.
        raise exception 'head of % moved during the flush', v_item.thread_id using errcode = 'serialization_failure';
      end if;
      v_held := array_remove(v_held, v_item.owner);
    end if;
  end loop;
  return v_held;
end
$$;
