-- Deletes up to p_count blobs of a blob space. Returns how many; fewer than p_count when none are left. Deletes in the physical order of
-- the table: in the order of the hashes, which are random, each row would change another page.
create or replace function delete_values(p_space uuid, p_count integer) returns integer
language plpgsql set plan_cache_mode = force_custom_plan set enable_indexscan = off as $$
declare
  v_removed integer;
begin
  delete from blobs b where b.ctid = any (array(select o.ctid from blobs o where o.space = p_space limit p_count));
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;
