// The order in which the engine applies the writes of a superstep. Delta channels are rebuilt from stored writes in this order.
import type { WriteRow } from '../../storage/deployment/checkpoints/checkpoint-rows.ts';

/** By code points, as the database compares texts with collation "C". */
const compareTexts = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares two writes of one checkpoint. Input, commands and the writes of engines before 1.5 have no path; they come first. */
export const compareWrites = (a: WriteRow, b: WriteRow): number =>
  compareTexts(a.task_path ?? '', b.task_path ?? '') || compareTexts(a.task_id, b.task_id) || a.idx - b.idx;
