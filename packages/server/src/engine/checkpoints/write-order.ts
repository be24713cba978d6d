// The order in which the engine applies the writes of a superstep. Delta channels are rebuilt from stored writes in this order.
import type { WriteRow } from '../../storage/deployment/checkpoint-rows.ts';
import type { SummaryTask } from './checkpoint-summary.ts';

/** The text that the engine makes of a task's path. */
const pathText = (path: unknown): string => {
  if (Array.isArray(path)) return `~${path.map(pathText).join(', ')}`;
  return typeof path === 'number' || typeof path === 'boolean'
    ? String(Number(path)).padStart(10, '0')
    : String(path);
};

/** The task's path as text, for engines before 1.5, which pass none. Null for the writes of no task: input and commands. */
export const taskPath = (task_id: string, tasks: SummaryTask[]): string | null => {
  const path = tasks.find(({ id }) => id === task_id)?.path;
  return path === undefined ? null : pathText(path);
};

/** By code points, as the database compares texts with collation "C". */
const compareTexts = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares two writes of one checkpoint. Those without a path come first. */
export const compareWrites = (a: WriteRow, b: WriteRow): number =>
  compareTexts(a.task_path ?? '', b.task_path ?? '') || compareTexts(a.task_id, b.task_id) || a.idx - b.idx;
