-- Deletes up to p_limit deliveries that ended longer ago than p_before; returns how many.
create or replace function delete_ended_deliveries(p_before interval, p_limit integer) returns integer
language sql as $$
  with old as (
    select w.delivery_id from webhook_deliveries w where w.ended_at < now() - p_before
    order by w.ended_at limit p_limit for update skip locked
  ), gone as (
    delete from webhook_deliveries d using old where d.delivery_id = old.delivery_id returning 1
  )
  select count(*)::integer from gone
$$;
