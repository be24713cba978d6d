-- Claims up to p_count runs of these graphs that wait for a slot. next_run_queue() divides the slots
-- between assistants and owners; within a queue the oldest run is first. A run that was cancelled, or whose attempts are used up, ends
-- instead and is returned with its final status.
-- p_assistants and p_owners: for each assistant the owner that this worker served last, in the order of service.
create or replace function claim_runs(
  p_count integer, p_worker_id uuid, p_lease interval, p_attempts integer, p_graphs text[],
  p_assistants uuid[], p_owners integer[])
returns setof runs
language plpgsql set enable_seqscan = off as $$
declare
  v_queue record;
  v_is_only boolean := false;
  v_run runs%rowtype;
  v_end record;
  v_passed text[] := '{}';
  v_graph_id text;
  v_place integer;
  v_is_first boolean;
  v_found record;
begin
  -- Other workers may claim from the same queues, so the number of failed tries is limited.
  while p_count > 0 and cardinality(v_passed) < 64 loop
    if not v_is_only then
      select * into v_queue from next_run_queue(p_graphs, p_assistants, p_owners, v_passed);
      exit when v_queue.assistant_id is null;
      if v_queue.owner_hash is null then
        v_passed := v_passed || v_queue.assistant_id::text;
        continue;
      end if;
      v_is_only := v_queue.is_only;
    end if;
    select * into v_run from lock_ready_run(v_queue.graph_id, v_queue.assistant_id, v_queue.owner_hash);
    if not found then
      exit when v_is_only;
      v_passed := v_passed || (v_queue.assistant_id || ' ' || v_queue.owner_hash);
      continue;
    end if;
    select a.graph_id into v_graph_id from assistants a where a.assistant_id = v_run.assistant_id;
    if v_graph_id <> v_run.graph_id then
      if move_ready_runs(v_run.assistant_id, v_run.graph_id, v_graph_id, 1000) = 1000 then
        v_passed := v_passed || v_queue.assistant_id::text;
      end if;
      v_is_only := false;
      continue;
    end if;

    v_place := array_position(p_assistants, v_run.assistant_id);
    if v_place is not null then
      p_assistants := p_assistants[:v_place - 1] || p_assistants[v_place + 1:];
      p_owners := p_owners[:v_place - 1] || p_owners[v_place + 1:];
    end if;
    p_assistants := p_assistants || v_run.assistant_id;
    p_owners := p_owners || v_run.owner_hash;
    p_count := p_count - 1;
    select * into v_end from end_spent_run(v_run, p_attempts);
    if v_end.status is not null then
      v_run.status := v_end.status;
      v_run.error := v_end.error;
    else
      v_is_first := v_run.lease_token = 0;
      select * into v_found from find_settled(v_run.thread_id);
      begin
        update runs r
        set status = 'running', attempt = r.attempt + 1, lease_token = r.lease_token + 1, worker_id = p_worker_id,
            lease_until = now() + p_lease, started_at = now(), updated_at = now(),
            first_seq = case when v_is_first then new_first_seq(r.thread_id) else r.first_seq end,
            found_head = case when v_is_first then v_found.head else r.found_head end,
            found_status = case when v_is_first then v_found.status else r.found_status end,
            found_interrupts = case when v_is_first then v_found.interrupts else r.found_interrupts end,
            found_error = case when v_is_first then v_found.error else r.found_error end,
            found_by = case when v_is_first then v_found.settled_by else r.found_by end
        where r.run_id = v_run.run_id returning * into v_run;
      exception when unique_violation then
        -- Another run of the thread is running after all; when it ends, this run is queued again.
        update runs r set waits_for = 'thread' where r.run_id = v_run.run_id;
        continue;
      end;
      -- Control writes of the last attempt in an unfinished step are removed; this attempt writes them again.
      if not v_is_first and v_found.head is not distinct from v_run.found_head then
        perform undo_run_writes(v_run.run_id, v_run.thread_id, false);
      end if;
      update threads t set status = 'busy' where t.thread_id = v_run.thread_id and t.status <> 'busy';
    end if;
    return next v_run;
  end loop;
end
$$;
