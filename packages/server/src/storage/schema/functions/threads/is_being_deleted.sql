-- True while a deleted thread with this id still has rows, or while all blobs of the blob space are being deleted.
create or replace function is_being_deleted(p_thread_id uuid, p_space uuid) returns boolean
language sql stable as $$
  select exists (select 1 from deleted_threads d where d.thread_id = p_thread_id)
    or (exists (select 1 from deleted_threads d where d.blob_space = p_space)
        and not exists (select 1 from threads t where t.blob_space = p_space and t.thread_id <> p_thread_id))
$$;
