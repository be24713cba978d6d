-- Removes up to p_count values of a blob space. Returns how many; fewer than p_count when none are left. In the order of the
-- table: hashes are random, and in their order each row would change another page.
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
