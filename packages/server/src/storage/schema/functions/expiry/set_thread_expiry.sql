-- Trigger: recomputes expires_at, so that every change of the state restarts the ttl. Not a generated column, which would cost
-- time on every update; a trigger whose condition is false costs nothing.
create or replace function set_thread_expiry() returns trigger
language plpgsql as $$
begin
  new.expires_at := case
    when new.ttl_minutes is not null and new.ttl_done_at is distinct from greatest(new.state_updated_at, new.ttl_since)
    then greatest(new.state_updated_at, new.ttl_since) + make_interval(secs => new.ttl_minutes * 60) end;
  return new;
end
$$;

create or replace trigger threads_expiry before insert or update on threads for each row
when (new.ttl_minutes is not null or new.expires_at is not null) execute function set_thread_expiry();
