-- The advisory lock of a blob space: shared by those who create a thread in it, exclusive for removing all its values.
create or replace function blob_space_lock(p_space uuid) returns bigint
language sql immutable as $$
  select hashtextextended('blobs ' || p_space, 0)
$$;
