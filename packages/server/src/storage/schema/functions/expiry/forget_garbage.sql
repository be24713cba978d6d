-- Removes the garbage entry of a blob space with its last thread, whose deletion also deletes all blobs.
create or replace function forget_garbage() returns trigger
language plpgsql as $$
begin
  delete from blob_garbage b using gone g
  where b.blob_space = g.blob_space and not exists (select 1 from threads t where t.blob_space = g.blob_space);
  return null;
end
$$;

create or replace trigger threads_removed after delete on threads
  referencing old table as gone for each statement execute function forget_garbage();
