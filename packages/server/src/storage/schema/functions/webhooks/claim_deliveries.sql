-- Claims up to p_count due deliveries: at most one per origin, in the order of origins after p_after, without those in p_busy. So origins
-- take turns, and the cost of a claim does not depend on how many deliveries wait for an origin. Examines at most 1,000 origins: the
-- last row has in resume_after where the next call continues; null when no origin is left.
create or replace function claim_deliveries(p_count integer, p_lease interval, p_busy text[], p_after text)
returns table (delivery_id uuid, run_id uuid, url text, origin text, attempt integer, lease_token bigint, run text, "values" text, resume_after text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_origin text := p_after;
  v_id uuid;
  v_claimed integer := 0;
begin
  for v_turn in 1..1000 loop
    select w.origin into v_origin from webhook_deliveries w
    where w.status = 'pending' and w.origin > v_origin order by w.origin limit 1;
    exit when v_origin is null;
    continue when v_origin = any (p_busy);
    select w.delivery_id into v_id from webhook_deliveries w
    where w.status = 'pending' and w.origin = v_origin and w.not_before <= now() and (w.lease_until is null or w.lease_until < now())
    order by w.not_before limit 1 for update skip locked;
    continue when v_id is null;
    return query
      update webhook_deliveries d
      set attempt = d.attempt + 1, lease_token = d.lease_token + 1, lease_until = now() + p_lease
      where d.delivery_id = v_id
      returning d.delivery_id, d.run_id, d.url, d.origin, d.attempt, d.lease_token, d.run, d.values, null::text;
    v_claimed := v_claimed + 1;
    exit when v_claimed >= p_count;
  end loop;
  resume_after := v_origin;
  delivery_id := null;
  return next;
end $$;
