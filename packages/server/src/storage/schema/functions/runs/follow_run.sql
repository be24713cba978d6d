-- Subscribes another process to a run: from now on the log stores what p_log requests. p_next_id: lowest id of the next event, when earlier
-- events were sent to readers without being logged. Returns the status of the run; null when it does not exist.
create or replace function follow_run(p_run_id uuid, p_log text, p_next_id integer) returns text
language plpgsql as $$
declare
  v_run runs%rowtype;
begin
  if p_next_id > 0 then
    -- Locked, because a run that is deleted now would leave the row that is inserted below. The lock mode is that of the update below: a
    -- flush locks the row too, and two transactions that upgrade a share lock would deadlock.
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
    -- A process that waits only for the outcome gets it from the end of the run; but the executor must keep the values of a stateless run.
    if p_log = 'events' or v_run.temporary then perform pg_notify('svc', 'l:' || p_run_id); end if;
    return v_run.status;
  end if;
  return (select r.status from runs r where r.run_id = p_run_id);
end
$$;
