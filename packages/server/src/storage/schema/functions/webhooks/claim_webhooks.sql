-- Claims up to p_count due deliveries, except to origins in p_busy. Called by servers of an earlier release only.
create or replace function claim_webhooks(p_count integer, p_lease interval, p_busy text[]) returns setof webhook_deliveries
language sql as $$
  with due as (
    select w.delivery_id from webhook_deliveries w
    where w.status = 'pending' and w.not_before <= now() and (w.lease_until is null or w.lease_until < now())
      and w.origin <> all (p_busy)
    order by w.not_before limit p_count for update skip locked
  )
  update webhook_deliveries d
  set attempt = d.attempt + 1, lease_token = d.lease_token + 1, lease_until = now() + p_lease
  from due
  where d.delivery_id = due.delivery_id
  returning d.*
$$;
