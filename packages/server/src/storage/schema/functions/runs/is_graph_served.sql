-- True when a worker that executes the graph has reported itself within p_within. With p_leaving, a worker that is stopping or has stopped
-- counts too.
create or replace function is_graph_served(p_graph_id text, p_within interval, p_leaving boolean default true)
returns boolean
language sql stable as $$
  select exists (
    select 1 from workers w
    where w.seen_at > now() - p_within and (p_leaving or not w.draining) and p_graph_id = any (w.graphs))
$$;
