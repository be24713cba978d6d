// Triggers record which node claimed which run and which node wrote which checkpoint. They write in the same transaction, so rejected
// writes leave no record and accepted writes always do. A node is identified by the application_name of its connections.

export const audit = `
  create schema faults;
  create table faults.claims (
    run_id uuid, lease_token bigint, node text, at timestamptz not null default clock_timestamp(),
    primary key (run_id, lease_token)
  );
  create table faults.commits (
    checkpoint_id uuid, run_id uuid, node text, held_by text, lease_token bigint,
    at timestamptz not null default clock_timestamp()
  );

  create function faults.note_claim() returns trigger language plpgsql as $$
  begin
    if new.status = 'running' and (tg_op = 'INSERT' or new.lease_token <> old.lease_token) then
      insert into faults.claims (run_id, lease_token, node)
      values (new.run_id, new.lease_token, current_setting('application_name')) on conflict do nothing;
    end if;
    return null;
  end $$;
  create trigger note_claim after insert or update on svc.runs for each row execute function faults.note_claim();

  -- A copy of a thread keeps the run ids of its source, and a state update has none.
  create function faults.note_commit() returns trigger language plpgsql as $$
  begin
    insert into faults.commits (checkpoint_id, run_id, node, held_by, lease_token)
    select new.checkpoint_id, new.run_id, current_setting('application_name'), c.node, c.lease_token
    from svc.runs r join faults.claims c using (run_id)
    where r.run_id = new.run_id and r.thread_id = new.thread_id
    order by c.lease_token desc limit 1;
    return null;
  end $$;
  create trigger note_commit after insert on svc.checkpoints for each row execute function faults.note_commit();
`;
