-- The message in runs.error, which is JSON text that contains a graph's exception; null when there is none. Never fails, since one malformed text
-- must not stop a statement that reads many. Characters that jsonb rejects (NUL, unpaired surrogates) are escaped as in exact-text.ts.
create or replace function run_error_message(p_error text) returns text language plpgsql immutable as $$
begin
  return regexp_replace(p_error, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})', '\1\\udbff\\udfff\2', 'gi')::jsonb ->> 'message';
exception when data_exception or program_limit_exceeded then
  return null;
end $$;
