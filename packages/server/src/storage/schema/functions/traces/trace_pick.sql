-- The value of a field after a merge: p_new when p_wins is not 0, else p_old; when that one is null, the other.
create or replace function trace_pick(p_wins integer, p_new anyelement, p_old anyelement) returns anyelement language sql immutable as $$
  select case when p_wins <> 0 then coalesce(p_new, p_old) else coalesce(p_old, p_new) end
$$;
