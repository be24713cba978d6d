-- Creates the export of the next window of up to p_limit schedules whose window ended at least p_lag ago. Workspaces take turns, each with
-- its oldest window first, so that no workspace waits for the schedules of another. A schedule creates no more while p_unfinished of its
-- exports have not ended; neither does any schedule of a workspace with 10,000 unfinished exports. Returns how many were created.
create or replace function spawn_exports(p_lag interval, p_unfinished integer, p_limit integer) returns integer language plpgsql as $$
declare
  v_schedule exports%rowtype;
  v_end timestamptz;
  v_child uuid;
  v_runs integer;
  v_count integer := 0;
begin
  for v_schedule in
    with due as materialized (
      select d.tenant_id, d.id, d.next_window, row_number() over (partition by d.tenant_id order by d.next_window, d.id) as turn
      from workspaces w
      cross join lateral (
        select count(*) as exports from (
          select from exports c where c.tenant_id = w.id and c.source_export_id is not null and c.status in ('CREATED', 'RUNNING') limit 10000) c
      ) unfinished
      cross join lateral (
        select e.tenant_id, e.id, e.next_window from exports e
        where e.tenant_id = w.id and e.status = 'INTERVALSCHEDULED' and e.next_window + e.interval_hours * interval '1 hour' + p_lag <= now()
          and (select count(*) from exports c where c.tenant_id = e.tenant_id and c.source_export_id = e.id and c.status in ('CREATED', 'RUNNING')) < p_unfinished
        order by e.next_window, e.id limit least(p_limit, 10000 - unfinished.exports)
      ) d
    )
    select e.* from due d join exports e on e.tenant_id = d.tenant_id and e.id = d.id
    -- The schedule may have been cancelled meanwhile, or another node may have created its export.
    where e.status = 'INTERVALSCHEDULED' and e.next_window = d.next_window
    order by d.turn, e.next_window, e.id limit p_limit for no key update of e skip locked
  loop
    begin
      v_child := null;
      v_end := v_schedule.next_window + v_schedule.interval_hours * interval '1 hour';
      insert into exports (tenant_id, id, destination_id, session_id, window_start, window_end, filter, format_version, compression,
        export_fields, source_export_id, status, layout_version)
      values (v_schedule.tenant_id, gen_random_uuid(), v_schedule.destination_id, v_schedule.session_id, v_schedule.next_window, v_end,
        v_schedule.filter, v_schedule.format_version, v_schedule.compression, v_schedule.export_fields, v_schedule.id, 'CREATED',
        v_schedule.layout_version)
      on conflict (tenant_id, source_export_id, window_start) where source_export_id is not null do nothing
      returning id into v_child;
      if found then
        insert into export_runs (tenant_id, id, export_id, window_start, window_end)
        select v_schedule.tenant_id, gen_random_uuid(), v_child, greatest(v_schedule.next_window, d at time zone 'utc'),
          least(v_end, (d + interval '1 day') at time zone 'utc')
        from generate_series(date_trunc('day', v_schedule.next_window at time zone 'utc'), v_end at time zone 'utc', interval '1 day') d
        where d at time zone 'utc' < v_end;
        get diagnostics v_runs = row_count;
        perform add_export_event(v_schedule.tenant_id, v_child, 'created', null, format('Made by its schedule, with %s export runs', v_runs));
        perform add_export_event(v_schedule.tenant_id, v_schedule.id, 'spawned', null,
          format('Made export %s of %s', v_child, export_span(v_schedule.next_window, v_end)));
        perform pg_notify('svc', 'x:' || v_child);
      end if;
      update exports e set next_window = v_end, updated_at = now() where e.tenant_id = v_schedule.tenant_id and e.id = v_schedule.id;
      if v_child is not null then v_count := v_count + 1; end if;
    exception when data_exception or integrity_constraint_violation or program_limit_exceeded then
      -- A failing schedule must not block those of other workspaces.
      update exports e set next_window = null, updated_at = now(),
        error = format('Paused: the export of its next window could not be made (SQLSTATE %s)', sqlstate)
      where e.tenant_id = v_schedule.tenant_id and e.id = v_schedule.id;
      perform add_export_event(v_schedule.tenant_id, v_schedule.id, 'paused', null,
        format('Paused: the export of the window from %s could not be made (SQLSTATE %s)',
          to_char(v_schedule.next_window at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), sqlstate));
    end;
  end loop;
  return v_count;
end $$;
