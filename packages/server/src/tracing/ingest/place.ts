// Runs that name a parent and not their path, whose parent came with them: the path is known at once, and nothing waits for it
// in the database. So come spans of OpenTelemetry.
import { pathCharsMax, segmentOf } from './dotted-order.ts';
import type { NewRunWrite } from './run-write.ts';

/** What adopt_orphans() would do once all of them are stored. */
export const placeAll = (runs: readonly NewRunWrite[]): void => {
  if (!runs.some(isLost)) return;
  const byId = new Map(runs.map((run) => [run.id, run]));
  /** Nothing above them has a path, or they are above themselves. */
  const hopeless = new Set<NewRunWrite | undefined>([undefined]);
  for (const run of runs) {
    // Up to the first that has a path, and down again.
    const lost = new Set<NewRunWrite>();
    let above: NewRunWrite | undefined = run;
    while (above !== undefined && isLost(above) && !lost.has(above) && !hopeless.has(above)) {
      lost.add(above);
      above = byId.get(String(above.fields.parent_run_id));
    }
    for (const one of [...lost].toReversed()) {
      if (hopeless.has(above) || !place(one, above)) hopeless.add(one);
      above = one;
    }
  }
};

/** A patch that says no path is of a run that has one. */
const isLost = ({ rank, fields, start_time }: NewRunWrite): boolean =>
  rank === 0 &&
  start_time !== null &&
  (fields.dotted_order ?? null) === null &&
  (fields.parent_run_id ?? null) !== null;

/** Whether it could be. */
const place = ({ id, start_time, fields }: NewRunWrite, parent: NewRunWrite | undefined): boolean => {
  const { dotted_order, trace_id } = parent?.fields ?? {};
  if (typeof dotted_order !== 'string' || typeof trace_id !== 'string' || start_time === null) return false;
  const path = `${dotted_order}.${segmentOf(start_time, id)}`;
  if (path.length > pathCharsMax) return false;
  fields.dotted_order = path;
  fields.trace_id = trace_id;
  return true;
};
