import { START } from '@langchain/langgraph';
import { type PendingWrite, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import type { SummaryTask } from './checkpoint-summary.ts';

/** The task id under which the engine stores the input of a run. */
const inputTask = '00000000-0000-0000-0000-000000000000';

/** True for interrupts, answers and errors, which the engine stores under negative indexes: their task has not finished. */
export const isControl = (channel: string): boolean => (WRITES_IDX_MAP[channel] ?? 0) < 0;

/**
 * True when these are the writes of a node that has finished, so that the next attempt does not execute it again. False for the run's
 * input, and for errors and interrupts, which the engine stores under negative indexes. `tasks`: those of the newest checkpoint.
 */
export const isWork = (writes: PendingWrite[], task_id: string, tasks: SummaryTask[]): boolean => {
  if (task_id === inputTask || writes.every(([channel]) => isControl(channel))) return false;
  return tasks.find(({ id }) => id === task_id)?.name !== START;
};
