import type { Thread } from '@svc/sdk';
import type { CheckpointRow } from './checkpoint-row.ts';
import type { NewRun } from './run-at.ts';

/** The checkpoint that is acted on. */
export interface ChosenCheckpoint {
  thread: Thread;
  row: CheckpointRow;
  checkpointId: string;
  name: string;
  /** The run whose config a new run repeats. */
  runId: string | undefined;
}

/** What a dialog gets that edits a checkpoint and runs from it. */
export interface CheckpointEditor {
  chosen: ChosenCheckpoint;
  assistantId: string | undefined;
  /** Rejects when the server refuses the run: the dialog shows why, and keeps its draft. */
  runAt: (run: NewRun) => Promise<void>;
  onClose: () => void;
}
