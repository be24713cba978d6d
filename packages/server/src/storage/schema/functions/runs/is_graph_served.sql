-- Whether a worker that executes the graph has been heard of lately. One of an earlier release reports no graphs: it may.
create or replace function is_graph_served(p_graph_id text, p_within interval) returns boolean
language sql stable as $$
  select exists (
    select 1 from workers w
    where w.seen_at > now() - p_within and (w.graphs is null or p_graph_id = any (w.graphs)))
$$;
