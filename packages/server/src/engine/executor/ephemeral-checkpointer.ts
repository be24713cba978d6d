// The saver of stateless runs: the engine can interrupt and stream checkpoints, but nothing is stored.
import type { RunnableConfig } from '@langchain/core/runnables';
import { BaseCheckpointSaver, type Checkpoint, type CheckpointTuple } from '@langchain/langgraph-checkpoint';

export class EphemeralCheckpointer extends BaseCheckpointSaver {
  getTuple(): Promise<CheckpointTuple | undefined> {
    return Promise.resolve(undefined);
  }

  async *list(): AsyncGenerator<CheckpointTuple> {}

  put(config: RunnableConfig, checkpoint: Checkpoint): Promise<RunnableConfig> {
    return Promise.resolve({ configurable: { ...config.configurable, checkpoint_id: checkpoint.id } });
  }

  putWrites(): Promise<void> {
    return Promise.resolve();
  }

  deleteThread(): Promise<void> {
    return Promise.resolve();
  }
}
