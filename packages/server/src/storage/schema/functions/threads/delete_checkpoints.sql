-- Blobs are shared by a family of copies; they go with its last member.
create or replace function delete_checkpoints(p_thread_id uuid) returns void
language plpgsql as $$
declare
  v_space uuid;
begin
  select t.blob_space into v_space from threads t where t.thread_id = p_thread_id for update;
  delete from replaced_writes v where v.thread_id = p_thread_id;
  delete from checkpoint_writes w where w.thread_id = p_thread_id;
  delete from checkpoint_heads h where h.thread_id = p_thread_id;
  delete from checkpoints c where c.thread_id = p_thread_id;
  if not exists (select 1 from threads t where t.blob_space = v_space and t.thread_id <> p_thread_id) then
    delete from blobs b where b.space = v_space;
  end if;
end
$$;
