-- What two batches at once have missed of each other. How many were adopted.
create or replace function adopt_late_orphans(p_limit integer) returns integer language plpgsql as $$
declare
  v_found record;
  v_count integer := 0;
begin
  for v_found in
    select late.tenant_id, array_agg(late.parent_run_id) as parents
    from (select distinct o.tenant_id, o.parent_run_id from trace_orphans o
      join trace_run_days d on d.tenant_id = o.tenant_id and d.id = o.parent_run_id limit p_limit) late
    group by late.tenant_id
  loop
    v_count := v_count + adopt_orphans(v_found.tenant_id, v_found.parents);
  end loop;
  return v_count;
end $$;
