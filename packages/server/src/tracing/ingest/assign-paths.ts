// Computes the dotted_order of runs that have only a parent_run_id, when the parent is in the same batch. Otherwise the database computes
// it later. OpenTelemetry spans have no dotted_order.
import { pathCharsMax, segmentOf } from './dotted-order.ts';
import type { NewRunWrite } from './run-write.ts';

/** Has the result of adopt_orphans() after all runs are stored. */
export const assignPaths = (runs: readonly NewRunWrite[]): void => {
  if (!runs.some(lacksPath)) return;
  const byId = new Map(runs.map((run) => [run.id, run]));
  /** Runs without an ancestor that has a path, and runs in a cycle of parents. */
  const unresolvable = new Set<NewRunWrite | undefined>([undefined]);
  for (const run of runs) {
    // Walks up to the nearest ancestor with a path, then assigns paths on the way down.
    const chain = new Set<NewRunWrite>();
    let ancestor: NewRunWrite | undefined = run;
    while (
      ancestor !== undefined &&
      lacksPath(ancestor) &&
      !chain.has(ancestor) &&
      !unresolvable.has(ancestor)
    ) {
      chain.add(ancestor);
      ancestor = byId.get(String(ancestor.fields.parent_run_id));
    }
    let parent = ancestor;
    for (const child of [...chain].toReversed()) {
      if (unresolvable.has(parent) || !assignPath(child, parent)) unresolvable.add(child);
      parent = child;
    }
  }
};

/** True for a POST with a start and a parent but no path. A PATCH without a path (rank > 0) belongs to a run that has one. */
const lacksPath = ({ rank, fields, start_time }: NewRunWrite): boolean =>
  rank === 0 &&
  start_time !== null &&
  (fields.dotted_order ?? null) === null &&
  (fields.parent_run_id ?? null) !== null;

/** Returns false when the parent has no path, or the path becomes too long. */
const assignPath = ({ id, start_time, fields }: NewRunWrite, parent: NewRunWrite | undefined): boolean => {
  const { dotted_order, trace_id } = parent?.fields ?? {};
  if (typeof dotted_order !== 'string' || typeof trace_id !== 'string' || start_time === null) return false;
  const path = `${dotted_order}.${segmentOf(start_time, id)}`;
  if (path.length > pathCharsMax) return false;
  fields.dotted_order = path;
  fields.trace_id = trace_id;
  return true;
};
