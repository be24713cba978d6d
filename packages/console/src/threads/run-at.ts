// A run that starts at a checkpoint.
import type { Run, RunOptions, Thread } from '@svc/sdk';
import { streamModes } from '../interrupts/use-answer.ts';
import type { CheckpointRow } from './checkpoint-row.ts';

export interface NewRun {
  checkpointId: string;
  /** Null executes the nodes that are next. */
  input: unknown;
}

/**
 * The options of the run. `origin`: the run that created the checkpoint, whose config and context are repeated. A run of the thread
 * that has not ended makes the server refuse the new one.
 */
export const runOptionsAt = (
  { checkpointId, input }: NewRun,
  origin: Pick<Run, 'kwargs'> | undefined,
): RunOptions => {
  const { config, context } = (origin?.kwargs ?? {}) as Pick<RunOptions, 'config' | 'context'>;
  return {
    ...(config === undefined || config === null ? {} : { config }),
    ...(context === undefined || context === null ? {} : { context }),
    input: input as RunOptions['input'],
    checkpoint_id: checkpointId,
    multitask_strategy: 'reject',
    stream_mode: [...streamModes],
    stream_resumable: true,
  };
};

/** The checkpoint from which a run starts. */
export interface ChosenCheckpoint {
  thread: Thread;
  row: CheckpointRow;
  checkpointId: string;
  name: string;
  /** A new run gets the config of this run. */
  runId: string | undefined;
}

/** Props of a dialog that edits the state or input of a checkpoint and starts a run from it. */
export interface CheckpointEditor {
  chosen: ChosenCheckpoint;
  assistantId: string | undefined;
  /** Rejects when the server refuses the run: the dialog shows why, and keeps its draft. */
  runAt: (run: NewRun) => Promise<void>;
  onClose: () => void;
}
