-- However checkpoints are removed, by pruning or with a run.
create or replace function note_removed_checkpoints() returns trigger
language plpgsql as $$
begin
  with changed as (
    update threads t set removals = t.removals + 1
    where t.thread_id in (select distinct g.thread_id from gone g)
    returning t.blob_space
  )
  insert into blob_garbage as b (blob_space) select distinct c.blob_space from changed c
  on conflict (blob_space) do update set due_at = least(excluded.due_at, b.since + interval '10 minutes');
  return null;
end
$$;

create or replace trigger checkpoints_removed after delete on checkpoints
  referencing old table as gone for each statement execute function note_removed_checkpoints();
