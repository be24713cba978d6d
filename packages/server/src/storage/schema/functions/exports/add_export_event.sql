-- Records an event of an export. After 10,000 events, only events that end or pause the export are recorded.
create or replace function add_export_event(p_tenant uuid, p_export uuid, p_type text, p_run uuid, p_message text) returns void language sql as $$
  insert into export_events (tenant_id, export_id, type, run_id, message)
  select p_tenant, p_export, p_type, p_run, left(p_message, 2048)
  where p_type in ('completed', 'failed', 'cancelled', 'timed_out', 'paused')
    or (select count(*) from (select from export_events e where e.tenant_id = p_tenant and e.export_id = p_export limit 10000) e) < 10000;
$$;
