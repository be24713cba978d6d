-- Called after rows of these threads were removed: makes state updates that began earlier fail, and schedules the collection of
-- unreferenced blobs.
create or replace function note_removals(p_thread_ids uuid[]) returns void
language sql as $$
  with changed as (
    update threads t set removals = t.removals + 1 where t.thread_id = any (p_thread_ids) returning t.blob_space
  )
  insert into blob_garbage as b (blob_space) select distinct c.blob_space from changed c
  on conflict (blob_space) do update set due_at = least(excluded.due_at, b.since + interval '10 minutes')
$$;
