-- Deletes the state of a thread that is kept, p_count rows at a time. True when there may be more. Its blobs are collected later.
create or replace function delete_checkpoints(p_thread_id uuid, p_count integer) returns boolean
language plpgsql as $$
begin
  perform 1 from threads t where t.thread_id = p_thread_id for update;
  return delete_state(p_thread_id, p_count) >= p_count;
end
$$;
