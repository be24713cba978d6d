-- Creates a thread with the same history, sharing its blobs. Returns 'copied', 'missing', 'outside' (the copy would not pass
-- p_copy_access) or 'too_large' (the source has more than p_max checkpoints and writes). One statement copies all rows, so they are from
-- one snapshot: the copy ends at a checkpoint boundary of a run that is writing.
create or replace function copy_thread(p_source uuid, p_copy uuid, p_metadata jsonb, p_access jsonpath, p_copy_access jsonpath,
                            p_max integer)
returns text
language plpgsql as $$
declare
  v_metadata jsonb;
  v_count integer;
begin
  select t.metadata into v_metadata from threads t where t.thread_id = p_source and t.metadata @@ p_access for share;
  if not found then return 'missing'; end if;
  if (v_metadata || p_metadata) @@ p_copy_access is not true then return 'outside'; end if;
  select count(*) into v_count from (
    (select 1 from checkpoints c where c.thread_id = p_source limit p_max + 1)
    union all
    (select 1 from checkpoint_writes w where w.thread_id = p_source limit p_max + 1)
  ) s;
  if v_count > p_max then return 'too_large'; end if;
  with thread as (
    insert into threads (thread_id, blob_space, metadata, interrupts, status, settled_status)
    select p_copy, t.blob_space, t.metadata || p_metadata, t.interrupts, s.status, s.status
    from threads t cross join lateral (select case t.status when 'interrupted' then t.status else 'idle' end as status) s
    where t.thread_id = p_source
  ), heads as (
    insert into checkpoint_heads (thread_id, checkpoint_ns, checkpoint_id)
    select p_copy, h.checkpoint_ns, h.checkpoint_id from checkpoint_heads h where h.thread_id = p_source
  ), written as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, task_path, ref)
    select p_copy, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.idx, w.channel, w.task_path, w.ref
    from checkpoint_writes w where w.thread_id = p_source
  )
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body, channels, wrote, shape)
  select p_copy, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape
  from checkpoints c where c.thread_id = p_source;
  return 'copied';
end
$$;
