-- A text that identifies the heads of a thread: it changes when a head moves.
create or replace function heads_mark(p_thread_id uuid) returns text
language sql stable as $$
  select md5(coalesce(string_agg(h.checkpoint_ns || ' ' || h.checkpoint_id, ',' order by h.checkpoint_ns collate "C"), ''))
  from checkpoint_heads h where h.thread_id = p_thread_id
$$;
