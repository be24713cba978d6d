-- Deletes at most p_limit moves of start times that no export needs: they are older than every unfinished export. The hour covers exports
-- that are being created. Returns how many.
create or replace function delete_trace_moves(p_limit integer) returns integer language plpgsql as $$
declare
  v_count integer;
begin
  delete from trace_moves m using (
    select o.tenant_id, o.id, o.number from trace_moves o
    where o.moved_at < least(
      (select min(e.created_at) from exports e where e.status in ('CREATED', 'RUNNING')), now() - interval '1 hour')
    order by o.moved_at limit p_limit
  ) old
  where m.tenant_id = old.tenant_id and m.id = old.id and m.number = old.number;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
