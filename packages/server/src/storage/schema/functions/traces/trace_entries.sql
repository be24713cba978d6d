-- The entries of a payload; none of what is no object, or what jsonb cannot hold.
create or replace function trace_entries(p_payload text) returns jsonb language plpgsql immutable as $$
begin
  if ltrim(p_payload) like '{%' then return p_payload::jsonb; end if;
  return '{}';
exception when data_exception or program_limit_exceeded then
  return '{}';
end $$;
