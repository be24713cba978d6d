-- What becomes of a field: the newer write has the last word, and any patch before a post.
create or replace function trace_pick(p_new anyelement, p_old anyelement, p_new_rank bigint, p_old_rank bigint, p_old_patched integer)
returns anyelement language sql immutable as $$
  select case when p_new_rank >= p_old_rank or p_old_patched = 0 then coalesce(p_new, p_old) else coalesce(p_old, p_new) end
$$;
