-- So that a state update restarts the clock without knowing of it. Not a generated column: that costs every run,
-- a condition that does not hold costs nothing.
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
