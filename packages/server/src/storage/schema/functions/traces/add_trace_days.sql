-- Creates the partitions of days. Attaching a partition does not block readers or writers of other partitions.
create or replace function add_trace_days(p_days date[]) returns void language plpgsql as $$
declare
  v_day date;
  v_parent text;
  v_name text;
begin
  perform pg_advisory_xact_lock(7301955202);
  for v_day in select d from unnest(p_days) d where not exists (select from trace_days t where t.day = d) order by d loop
    foreach v_parent in array array['trace_runs', 'trace_attachments'] loop
      v_name := v_parent || to_char(v_day, '_YYYYMMDD');
      -- The day is being dropped, and one of its partitions is still attached.
      if exists (select from pg_inherits i where i.inhrelid = to_regclass(v_name)) then
        raise lock_not_available using message = format('The partition %s is being dropped', v_name);
      end if;
      execute format('drop table if exists %I', v_name);
      -- Index-only scans need pages that vacuum has marked all-visible: rows are inserted often and seldom changed, so vacuum runs on inserts.
      execute format('create table %I (like %I including all) with (autovacuum_vacuum_insert_scale_factor = 0.05)', v_name, v_parent);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', v_parent, v_name, v_day, v_day + 1);
    end loop;
    insert into trace_days values (v_day);
  end loop;
end $$;
