-- Usage details as they were sent, without cost details that the server has added.
create or replace function sent_usage_details(p_patched integer, p_details jsonb) returns jsonb language sql immutable as $$
  select case when p_patched & trace_bit('priced') = 0 then p_details
    else nullif(p_details - '{prompt_cost_details,completion_cost_details}'::text[], '{}') end
$$;
