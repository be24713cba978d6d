-- Stores the blobs, checkpoints, writes and checkpoint summaries of these owners. p_runs: those that are runs.
create or replace function store_rows(p_owners uuid[], p_runs uuid[], p_blobs json, p_checkpoints json, p_writes json, p_shapes json)
returns void language plpgsql as $$
begin
  insert into blobs (space, hash, refs, payload)
  select b.space, b.hash, b.refs, b.payload
  from json_to_recordset(p_blobs) as b(owner uuid, space uuid, hash uuid, refs uuid[], payload text)
  where b.owner = any (p_owners)
  on conflict do nothing;

  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_id, run_id, metadata, body, channels, wrote, shape,
                           found_head)
  select c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_id, c.run_id, c.metadata, c.body, c.channels, c.wrote, c.shape,
         c.found_head
  from json_to_recordset(p_checkpoints)
    as c(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, parent_id uuid, run_id uuid,
         metadata text, body text, channels text, wrote text, shape text, found_head uuid)
  where c.owner = any (p_owners)
  on conflict (thread_id, checkpoint_ns, checkpoint_id) do update
  set metadata = excluded.metadata, body = excluded.body, channels = excluded.channels, wrote = excluded.wrote,
      shape = excluded.shape;

  -- A write stores its run only when another run made the checkpoint. `own` says that this run did; without it, the checkpoint
  -- is looked up.
  insert into checkpoint_writes as w (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, task_path, ref, run_id)
  select n.thread_id, n.checkpoint_ns, n.checkpoint_id, n.task_id, n.idx, n.channel, n.task_path, n.ref,
         case when n.own or n.owner <> all (p_runs) then null
              else nullif(n.owner, (
                select c.run_id from checkpoints c
                where c.thread_id = n.thread_id and c.checkpoint_ns = n.checkpoint_ns and c.checkpoint_id = n.checkpoint_id))
         end
  from json_to_recordset(p_writes)
    as n(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, task_id text, idx integer,
         channel text, task_path text, ref text, own boolean)
  where n.owner = any (p_owners)
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do update
  set channel = excluded.channel, ref = excluded.ref, run_id = excluded.run_id
  where w.idx < 0; -- control writes (error, interrupt, resume): the newest counts. Results never change.

  if json_array_length(p_shapes) > 0 then
    update checkpoints c set shape = coalesce(s.shape, c.shape), wrote = coalesce(s.wrote, c.wrote)
    from json_to_recordset(p_shapes)
      as s(owner uuid, thread_id uuid, checkpoint_ns text, checkpoint_id uuid, shape text, wrote text)
    where s.owner = any (p_owners) and c.thread_id = s.thread_id and c.checkpoint_ns = s.checkpoint_ns
      and c.checkpoint_id = s.checkpoint_id;
  end if;
end
$$;
