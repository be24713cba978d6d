-- New rows of the logs of these runs, each from its next id on: the first new row of each log, then the second of each, and so on, until
-- their bytes exceed p_all_bytes; at least one row. Of each log, rows until their bytes exceed p_log_bytes. `found`: how many rows there
-- would be without p_all_bytes. `age_ms`: milliseconds since the row was written.
create or replace function new_run_events(p_run_ids uuid[], p_next_ids integer[], p_log_bytes bigint, p_all_bytes bigint)
returns table (run_id uuid, first_id integer, last_id integer, events text, outcome text, age_ms float8, found bigint)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
    select n.run_id, n.first_id, n.last_id, n.events, n.outcome,
      extract(epoch from clock_timestamp() - n.created_at)::float8 * 1000, n.found
    from (
      select e.*, count(*) over () as found, row_number() over (order by e.place, e.position) as n,
        sum(octet_length(e.events) + coalesce(octet_length(e.outcome), 0)) over (order by e.place, e.position) as bytes
      from unnest(p_run_ids, p_next_ids) with ordinality as p(run_id, next_id, position)
      cross join lateral (
        select l.*, p.position, row_number() over (order by l.first_id, l.last_id) as place,
          sum(octet_length(l.events)) over (order by l.first_id, l.last_id) - octet_length(l.events) as before
        from (
          select * from run_events l where l.run_id = p.run_id and (l.last_id >= p.next_id or l.outcome is not null)
          order by l.first_id, l.last_id limit 200
        ) l
      ) e where e.before < p_log_bytes
    ) n where n.n = 1 or n.bytes <= p_all_bytes order by n.n;
end
$$;
