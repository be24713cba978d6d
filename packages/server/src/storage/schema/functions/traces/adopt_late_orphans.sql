-- Sets the dotted order of trace runs whose parents arrived in a concurrent batch. Returns how many. Considers only parents that have a dotted
-- order: trace runs whose parents never get one would fill every batch.
create or replace function adopt_late_orphans(p_limit integer) returns integer language plpgsql as $$
declare
  v_found record;
  v_count integer := 0;
begin
  for v_found in
    select late.tenant_id, array_agg(late.parent_run_id) as parents
    from (select distinct o.tenant_id, o.parent_run_id from trace_orphans o
      join trace_run_days d on d.tenant_id = o.tenant_id and d.id = o.parent_run_id
      where exists (select from trace_runs p where p.tenant_id = d.tenant_id and p.id = d.id and p.day = d.day and p.dotted_order is not null)
        and exists (select from trace_run_days c join trace_runs r on r.tenant_id = c.tenant_id and r.id = c.id and r.day = c.day
          where c.tenant_id = o.tenant_id and c.id = o.id and r.start_time is not null)
      limit p_limit) late
    group by late.tenant_id
  loop
    v_count := v_count + adopt_orphans(v_found.tenant_id, v_found.parents);
  end loop;
  return v_count;
end $$;
