-- A new thread with the same history at the cost of references; `outside` when it would not pass p_copy_access.
-- One statement, hence one snapshot: a run that writes meanwhile is in the copy up to one checkpoint, not in parts.
create or replace function copy_thread(p_source uuid, p_copy uuid, p_metadata jsonb, p_access jsonpath, p_copy_access jsonpath)
returns text
language plpgsql as $$
declare
  v_metadata jsonb;
begin
  select t.metadata into v_metadata from threads t where t.thread_id = p_source and t.metadata @@ p_access for share;
  if not found then return 'missing'; end if;
  if (v_metadata || p_metadata) @@ p_copy_access is not true then return 'outside'; end if;
  with thread as (
    insert into threads (thread_id, blob_space, metadata, interrupts, status)
    select p_copy, t.blob_space, t.metadata || p_metadata, t.interrupts,
           case when t.status = 'interrupted' then 'interrupted' else 'idle' end
    from threads t where t.thread_id = p_source
  ), heads as (
    insert into checkpoint_heads
    select p_copy, h.checkpoint_ns, h.checkpoint_id from checkpoint_heads h where h.thread_id = p_source
  ), written as (
    insert into checkpoint_writes
    select p_copy, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.idx, w.channel, w.task_path, w.ref
    from checkpoint_writes w where w.thread_id = p_source
  )
  insert into checkpoints
  select p_copy, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape
  from checkpoints c where c.thread_id = p_source;
  return 'copied';
end
$$;
