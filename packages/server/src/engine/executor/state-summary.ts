// Gets the summary of a checkpoint from the engine, when the engine did not report it while it ran.
import type { CheckpointStorage } from '../../storage/deployment/checkpoints.ts';
import { SvcCheckpointer } from '../checkpoints/checkpointer.ts';
import type { ThreadSession } from '../checkpoints/thread-session.ts';
import type { Graph } from './graph-registry.ts';

export const describeByState = async (
  graph: Graph,
  session: ThreadSession,
  put: { step: number; checkpoint_id: string },
  checkpoints: CheckpointStorage,
): Promise<void> => {
  const { thread_id } = session;
  const state = await graph.getState({
    configurable: {
      thread_id,
      checkpoint_ns: '',
      checkpoint_id: put.checkpoint_id,
      __pregel_checkpointer: new SvcCheckpointer(session, checkpoints),
    },
  });
  session.describe('', put.step, {
    keys: graph.streamChannelsAsIs as string | string[],
    tasks: state.tasks.map(({ id, name, path, state: inner }) => {
      const ns = (inner as { configurable?: { checkpoint_ns?: string } } | undefined)?.configurable
        ?.checkpoint_ns;
      return { id, name, path: path ?? [], ...(ns === undefined ? {} : { ns }) };
    }),
  });
};
