-- Trigger: deletes the vectors of deleted items.
create or replace function delete_item_vectors() returns trigger
language plpgsql as $$
begin
  delete from store_vectors v using gone g where v.namespace = g.namespace and v.key = g.key;
  return null;
end
$$;

create or replace trigger store_items_deleted after delete on store_items
  referencing old table as gone for each statement execute function delete_item_vectors();
