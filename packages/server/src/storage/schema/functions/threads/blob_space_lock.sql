-- The advisory lock of a blob space: shared to create a thread in it, exclusive to delete all of its blobs.
create or replace function blob_space_lock(p_space uuid) returns bigint
language sql immutable as $$
  select hashtextextended('blobs ' || p_space, 0)
$$;
