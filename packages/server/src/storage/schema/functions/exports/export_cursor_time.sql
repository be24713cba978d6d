-- The time in the cursor of a partition run: base64url of {v, t, id}.
create or replace function export_cursor_time(p_cursor text) returns timestamptz language sql stable strict parallel safe as $$
  select (convert_from(decode(rpad(translate(p_cursor, '-_', '+/'), (length(p_cursor) + 3) / 4 * 4, '='), 'base64'), 'utf8')::jsonb ->> 't')::timestamptz;
$$;
