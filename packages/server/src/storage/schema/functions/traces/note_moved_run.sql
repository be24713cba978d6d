-- Trigger: records the hours in which the trace run was counted before (the new row does not contain them), and its previous start.
create or replace function note_moved_run() returns trigger language plpgsql as $$
begin
  insert into trace_hour_changes (tenant_id, session_id, hour)
  select old.tenant_id, old.session_id, h from trace_hours_called(old.start_time, old.end_time) h where old.session_id is not null;
  if old.start_time is distinct from new.start_time then
    insert into trace_moves (tenant_id, id, day, start_time) values (old.tenant_id, old.id, old.day, coalesce(old.start_time, 'infinity'));
  end if;
  return null;
end $$;

create or replace trigger note_moved_run after update on trace_runs for each row
  when (old.session_id is distinct from new.session_id or old.start_time is distinct from new.start_time
    or old.run_type is distinct from new.run_type or (old.end_time is not null and old.end_time is distinct from new.end_time))
  execute function note_moved_run();
