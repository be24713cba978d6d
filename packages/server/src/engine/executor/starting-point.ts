// The checkpoint at which a run starts, as the engine needs it.
import { findCheckpoint } from '../checkpoints/namespaces.ts';
import type { RunKwargs } from '../dispatch/protocol.ts';
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import { RunRefused } from './run-refused.ts';

type StartingPoint = RunKwargs['checkpoint'];

/**
 * Adds `checkpoint_map` to the checkpoint of a subgraph: the engine starts at the root, and finds by this map the checkpoints of the root and of the
 * subgraphs between. Throws when there is no such checkpoint.
 */
export const withCheckpointMap = async (
  thread_id: string,
  checkpoint: StartingPoint,
  storage: Pick<CheckpointStorage, 'find'>,
): Promise<StartingPoint> => {
  const { checkpoint_ns = '', checkpoint_id, checkpoint_map } = checkpoint ?? {};
  if (checkpoint_ns === '' || checkpoint_id === undefined || checkpoint_map) return checkpoint;
  const found = await findCheckpoint(storage, { thread_id, checkpoint_ns, checkpoint_id });
  if (!found)
    throw new RunRefused(
      `checkpoint: the thread has no checkpoint ${checkpoint_id} in the namespace "${checkpoint_ns}". Take the checkpoint of a state or of a history of this thread`,
    );
  const { metadata, checkpoint_ns: ns } = found.checkpoint;
  const { parents = {} } = JSON.parse(metadata) as { parents?: Record<string, string> };
  return { checkpoint_ns: ns, checkpoint_id, checkpoint_map: { ...parents, [ns]: checkpoint_id } };
};
