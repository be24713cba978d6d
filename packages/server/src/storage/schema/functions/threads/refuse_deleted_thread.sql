-- Trigger: rejects the creation of a thread whose id is still being deleted. The statement is repeated (40001), and then finds the id
-- taken (is_of_lone_run). Runs after the insert, which has waited for a concurrent deletion of the id to commit.
create or replace function refuse_deleted_thread() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(blob_space_lock(new.blob_space));
  if is_being_deleted(new.thread_id, new.blob_space) then
    raise exception 'thread % is still being deleted', new.thread_id using errcode = 'serialization_failure';
  end if;
  return null;
end
$$;

create or replace trigger threads_created after insert on threads
  for each row execute function refuse_deleted_thread();
