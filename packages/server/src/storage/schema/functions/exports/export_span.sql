-- A time span as text, for messages.
create or replace function export_span(p_start timestamptz, p_end timestamptz) returns text language sql stable as $$
  select to_char(p_start at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || ' to ' || to_char(p_end at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;
