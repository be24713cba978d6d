-- Trigger: calls note_removals() for every deletion of checkpoints.
create or replace function note_removed_checkpoints() returns trigger
language plpgsql as $$
begin
  perform note_removals(array(select distinct g.thread_id from gone g));
  return null;
end
$$;

create or replace trigger checkpoints_removed after delete on checkpoints
  referencing old table as gone for each statement execute function note_removed_checkpoints();
