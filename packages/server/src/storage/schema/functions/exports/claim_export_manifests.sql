-- Claims up to p_count exports whose partition runs are all completed and whose manifest is not written.
create or replace function claim_export_manifests(p_count integer, p_lease interval) returns setof exports language sql as $$
  -- A CTE, because a plan may execute a subquery once per row and would then lock other rows each time.
  with due as (
    select o.tenant_id, o.id from exports o
    where o.status = 'RUNNING' and o.completing_at is not null and o.lease_until is null and o.not_before <= now()
    order by o.completing_at limit p_count for no key update skip locked
  )
  update exports e set lease_token = e.lease_token + 1, lease_until = now() + p_lease, updated_at = now()
  from due where e.tenant_id = due.tenant_id and e.id = due.id
  returning e.*
$$;
