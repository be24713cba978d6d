-- Whether the loss of the newest attempt of a run is charged. This is decided once, when the loss is recorded, and does not change later.
-- An attempt that stored the work of a node is never charged. Another one is charged when it may be the reason for the loss (p_suspected):
-- its executor or the process of its worker has ended. Otherwise its worker was cut off from the database, paused or too slow; then the loss
-- is charged only after five such losses without progress, so that these do not go on without end.
create or replace function is_charged(p_run runs, p_suspected boolean) returns boolean
language sql stable as $$
  select p_run.progress_token <> p_run.lease_token
    and (p_suspected or 5 <= (
      select count(*) from jsonb_array_elements(p_run.lost_attempts) as e(entry)
      where not (e.entry -> 'charged')::boolean and (e.entry -> 'lease_token')::bigint > p_run.progress_token))
$$;
