// The checkpoints of a thread form one chain, written by lease holders.
import type { Checker } from './evidence.ts';

/** Only the holder of the newest lease wrote; the triggers of audit.ts recorded it. */
export const onlyLeaseHoldersWrote: Checker = async ({ query }) => {
  const stale = await query<{ run_id: string; node: string; held_by: string; lease_token: string }>(
    'select run_id, node, held_by, lease_token from faults.commits where node <> held_by',
  );
  return stale.map(
    ({ run_id, node, held_by, lease_token }) =>
      `${node} wrote a checkpoint of run ${run_id}, which ${held_by} held with token ${lease_token}`,
  );
};

/** Every checkpoint has an existing parent, which has no other child, except for requested forks. */
export const checkpointsAreOneChain: Checker = async ({ query }) => {
  const forked = await query<{ thread_id: string; parent_id: string; count: number }>(
    `select thread_id, checkpoint_ns, parent_id, count(*)::integer as count from checkpoints
     where metadata::json->>'source' not in ('fork', 'update') and parent_id is not null
     group by 1, 2, 3 having count(*) > 1`,
  );
  const backwards = await query<{ checkpoint_id: string }>(
    'select checkpoint_id from checkpoints where parent_id is not null and checkpoint_id::text <= parent_id::text',
  );
  const orphaned = await query<{ checkpoint_id: string }>(
    `select c.checkpoint_id from checkpoints c where c.parent_id is not null and not exists (
       select 1 from checkpoints p where p.thread_id = c.thread_id and p.checkpoint_ns = c.checkpoint_ns
         and p.checkpoint_id = c.parent_id)`,
  );
  return [
    ...forked.map(
      ({ thread_id, parent_id, count }) =>
        `checkpoint ${parent_id} of thread ${thread_id} has ${count} children without a fork`,
    ),
    ...backwards.map(({ checkpoint_id }) => `checkpoint ${checkpoint_id} sorts before its parent`),
    ...orphaned.map(({ checkpoint_id }) => `the parent of checkpoint ${checkpoint_id} is missing`),
  ];
};

/** The head of a namespace is one of its checkpoints, and has no child. */
export const headsAreNewest: Checker = async ({ query }) => {
  const wrong = await query<{ thread_id: string; head: string }>(
    `select h.thread_id, h.checkpoint_id as head from checkpoint_heads h
     where not exists (
         select 1 from checkpoints c where c.thread_id = h.thread_id and c.checkpoint_ns = h.checkpoint_ns
           and c.checkpoint_id = h.checkpoint_id)
       or exists (
         select 1 from checkpoints c where c.thread_id = h.thread_id and c.checkpoint_ns = h.checkpoint_ns
           and c.parent_id = h.checkpoint_id)`,
  );
  return wrong.map(
    ({ thread_id, head }) => `the head ${head} of thread ${thread_id} is not its newest checkpoint`,
  );
};
