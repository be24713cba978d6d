-- The entries of a payload; empty when it is not an object, or when jsonb cannot represent it.
create or replace function trace_entries(p_payload text) returns jsonb language plpgsql immutable as $$
begin
  if ltrim(p_payload) like '{%' then return p_payload::jsonb; end if;
  return '{}';
exception when data_exception or program_limit_exceeded then
  return '{}';
end $$;
