-- Somebody beside the process that executes it wants to know of a run from now on; p_next_id is the id that its next
-- event shall have at least, where some were told that no log has. Returns its status; null when there is no such run.
create or replace function follow_run(p_run_id uuid, p_log text, p_next_id integer) returns text
language plpgsql as $$
declare
  v_run runs%rowtype;
begin
  if p_next_id > 0 then
    -- Held, or it could be deleted meanwhile, and nothing would ever remove what its log begins with. By the lock of the update
    -- below: flushes hold the row too, and two that first share it and then change it wait for each other.
    perform 1 from runs r where r.run_id = p_run_id for no key update;
  end if;
  select * into v_run from runs r where r.run_id = p_run_id;
  if not found or v_run.status not in ('pending', 'running') then return v_run.status; end if;
  if p_next_id > 0 then
    insert into run_events (run_id, first_id, last_id, events) values (p_run_id, p_next_id, p_next_id - 1, '')
    on conflict do nothing;
  end if;
  if v_run.log in ('events', p_log) or p_log = 'nothing' then return v_run.status; end if;
  update runs r set log = p_log
  where r.run_id = p_run_id and r.status in ('pending', 'running') and r.log <> 'events'
  returning * into v_run;
  if found then
    -- Who only waits for the outcome is told by it, except that values without a thread must be kept.
    if p_log = 'events' or v_run.temporary then perform pg_notify('svc', 'l:' || p_run_id); end if;
    return v_run.status;
  end if;
  return (select r.status from runs r where r.run_id = p_run_id);
end
$$;
