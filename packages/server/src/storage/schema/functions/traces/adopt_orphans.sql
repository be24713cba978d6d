-- Sets the dotted order of the children of these parents, and of their descendants, as far as the parents have one. Returns how many.
create or replace function adopt_orphans(p_tenant uuid, p_parents uuid[]) returns integer language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_parents uuid[] := p_parents;
  v_count integer := 0;
begin
  loop
    with found as (
      select o.parent_run_id, c.id, c.day, p.trace_id, p.dotted_order || '.'
        || to_char(c.start_time at time zone 'utc', 'YYYYMMDD"T"HH24MISSUS"Z"') || c.id as dotted_order
      from unnest(v_parents) parent
      cross join lateral (select * from trace_orphans o
        where o.tenant_id = p_tenant and o.parent_run_id = parent offset 0) o
      cross join lateral (select r.* from trace_run_days d join trace_runs r on r.day = d.day
        where d.tenant_id = p_tenant and d.id = parent and r.tenant_id = p_tenant and r.id = parent offset 0) p
      cross join lateral (select r.* from trace_run_days d join trace_runs r on r.day = d.day
        where d.tenant_id = p_tenant and d.id = o.id and r.tenant_id = p_tenant and r.id = o.id offset 0) c
      where p.dotted_order is not null and c.start_time is not null
    ), adopted as (
      update trace_runs c set trace_id = f.trace_id, dotted_order = f.dotted_order, updated_at = now()
      from found f where c.tenant_id = p_tenant and c.id = f.id and c.day = f.day and c.dotted_order is null
    ), gone as (
      delete from trace_orphans o using found f
      where o.tenant_id = p_tenant and o.parent_run_id = f.parent_run_id and o.id = f.id
    )
    select array_agg(id) into v_parents from found;
    exit when v_parents is null;
    v_count := v_count + cardinality(v_parents);
  end loop;
  return v_count;
end $$;
