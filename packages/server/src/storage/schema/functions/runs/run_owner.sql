-- The owner that a run counts for when slots are shared: the user who created it, else the user of its thread; 0 without users.
create or replace function run_owner(p_metadata jsonb, p_thread_metadata jsonb) returns integer
language sql immutable as $$
  select coalesce(hashtext(p_metadata ->> 'svc_auth_user_id'), hashtext(p_thread_metadata ->> 'svc_auth_user_id'), 0)
$$;
