-- Records that this transmission of a flush stores the ends of these owners, and returns those that no earlier one has stored. The insert
-- waits for an earlier transmission that has not ended yet, so only one of them continues with the owner.
create or replace function claim_endings(p_owners json, p_endings json) returns uuid[]
language plpgsql as $$
declare
  v_claimed uuid[];
begin
  with claimed as (
    insert into stored_endings (owner, lease_token)
    select e.owner, coalesce(o.lease_token, 0)
    from json_to_recordset(p_endings) as e(owner uuid)
    join json_to_recordset(p_owners) as o(owner uuid, lease_token bigint) using (owner)
    order by 1, 2
    on conflict do nothing
    returning owner
  )
  select coalesce(array_agg(owner), '{}') into v_claimed from claimed;
  return v_claimed;
end
$$;
