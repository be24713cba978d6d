-- Saves the value of a control write that another run replaces, so that removing that run can restore it. Only commit_batch()
-- sets `ref`; a change of `run_id` alone does not fire the trigger.
create or replace function keep_replaced_write() returns trigger
language plpgsql as $$
begin
  insert into replaced_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, channel, task_path, ref)
  values (old.thread_id, old.checkpoint_ns, old.checkpoint_id, old.task_id, old.idx, old.run_id, old.channel,
          old.task_path, old.ref);
  return new;
end
$$;

create or replace trigger checkpoint_writes_replaced before update of ref on checkpoint_writes for each row
when (old.run_id is distinct from new.run_id) execute function keep_replaced_write();
