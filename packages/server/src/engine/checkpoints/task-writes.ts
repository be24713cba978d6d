import { START } from '@langchain/langgraph';
import { type PendingWrite, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import type { StoredWrite, WriteRow } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';
import type { RecordedState } from '../../storage/deployment/checkpoints/recorded-state.ts';
import type { SummaryTask } from './checkpoint-summary.ts';

/** The task id under which the engine stores the input of a run, and what a command writes. */
const inputTask = '00000000-0000-0000-0000-000000000000';

/** The index of a write of a task: its position, or the fixed negative one of a control channel. */
export const writeIndex = (channel: string, position: number): number => WRITES_IDX_MAP[channel] ?? position;

/** True for interrupts, answers and errors, which the engine stores under negative indexes: their task has not finished. */
export const isControl = (channel: string): boolean => writeIndex(channel, 0) < 0;

/**
 * True when these are the writes of a node that has finished, so that the next attempt does not execute it again. False for the run's
 * input, and for errors and interrupts, which the engine stores under negative indexes. `tasks`: those of the newest checkpoint.
 */
export const isWork = (writes: PendingWrite[], task_id: string, tasks: SummaryTask[]): boolean => {
  if (task_id === inputTask || writes.every(([channel]) => isControl(channel))) return false;
  return tasks.find(({ id }) => id === task_id)?.name !== START;
};

/** True when the superstep of these tasks applies the input of a run. */
export const appliesInput = (tasks: readonly SummaryTask[]): boolean =>
  tasks.some(({ name }) => name === START);

/** True for a write by which a command changes the state. */
export const isOfCommand = (task_id: string, channel: string): boolean =>
  task_id === inputTask && !isControl(channel);

/**
 * References of the values of delta channels at a checkpoint. Unknown after a command has written to it: the recorded values have its writes, which
 * the engine applies itself.
 */
export const seedOf = ({
  writes,
  recorded,
}: {
  writes: readonly StoredWrite[];
  recorded: RecordedState | undefined;
}): RecordedState['base'] | undefined =>
  writes.some(({ task_id, channel }) => isOfCommand(task_id, channel)) ? undefined : recorded?.base;

/** Writes that leave a task to be run. */
const ofOpenTasks = new Set(['__error__', '__interrupt__', '__scheduled__']);

/** True for a write that the engine applies to the newest state before its superstep has ended. */
export const isApplied = (task_id: string, channel: string): boolean =>
  task_id === inputTask ? isOfCommand(task_id, channel) : !ofOpenTasks.has(channel);

// The order in which the engine applies the writes of a superstep. Delta channels are rebuilt from stored writes in this order.

/** By code points, as the database compares texts with collation "C". */
const compareTexts = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares two writes of one checkpoint. Input, commands and the writes of engines before 1.5 have no path; they come first. */
export const compareWrites = (a: WriteRow, b: WriteRow): number =>
  compareTexts(a.task_path ?? '', b.task_path ?? '') || compareTexts(a.task_id, b.task_id) || a.idx - b.idx;
