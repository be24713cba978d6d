// Writes a trace as JSON text, a tree of trace runs.
import type { TraceRunRow } from '../../storage/tracing/trace-row.ts';
import { toRunText } from './run-text.ts';

const hidden = new Set([
  'inputs',
  'outputs',
  'events',
  'serialized',
  'extra',
  'parent_run_ids',
  'feedback_stats',
]);

/** `rows` are ordered by start. Runs whose parents are not among them are at the top level, like the root. */
export const treeText = (trace_id: string, rows: readonly TraceRunRow[], isWhole: boolean): string => {
  const known = new Set(rows.map((row) => row.id));
  const children = new Map<string, TraceRunRow[]>();
  const tops: TraceRunRow[] = [];
  for (const row of rows) {
    const parent = row.parent_run_id;
    if (parent === null || !known.has(parent)) tops.push(row);
    else {
      const siblings = children.get(parent);
      if (siblings) siblings.push(row);
      else children.set(parent, [row]);
    }
  }
  const texts = textsOf(tops, children);
  return `{"trace_id":${JSON.stringify(trace_id)},"run_count":${rows.length},"is_whole":${isWhole},"runs":${texts}}`;
};

/** Not recursive, because a deep trace would overflow the stack. */
const textsOf = (
  tops: readonly TraceRunRow[],
  children: ReadonlyMap<string, readonly TraceRunRow[]>,
): string => {
  const pieces: string[] = ['['];
  const open: { rows: readonly TraceRunRow[]; at: number }[] = [{ rows: tops, at: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const row = level.rows[level.at++];
    if (row === undefined) {
      open.pop();
      pieces.push(open.length > 0 ? ']}' : ']');
      continue;
    }
    pieces.push(level.at > 1 ? ',' : '', nodeText(row), ',"child_runs":[');
    open.push({ rows: children.get(row.id) ?? [], at: 0 });
  }
  return pieces.join('');
};

/** JSON text of a run without the closing brace. */
const nodeText = (row: TraceRunRow): string => {
  const fields = JSON.parse(toRunText(row, {})) as Record<string, unknown>;
  for (const name of hidden) delete fields[name];
  return JSON.stringify(fields).slice(0, -1);
};
