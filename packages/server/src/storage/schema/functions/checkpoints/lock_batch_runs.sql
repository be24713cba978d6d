-- Locks the runs of a flush that still have their lease, and returns them. Every statement that changes the lease token, or ends a run
-- without its attempt, locks the row `for update`, so the token stays the newest until this transaction commits. A renewal does not wait
-- for this lock.
create or replace function lock_batch_runs(p_owners json, p_over uuid[]) returns uuid[]
language plpgsql as $$
begin
  return array(
    select r.run_id
    from json_to_recordset(p_owners) as o(owner uuid, lease_token bigint)
    join runs r on r.run_id = o.owner and r.lease_token = o.lease_token and r.status = 'running'
    where o.owner <> all (p_over)
    order by r.run_id
    for key share of r
  );
end
$$;
