import { describe, expect, it } from 'vitest';
import { assignPaths } from './ingest-task.ts';
import type { NewRunWrite } from './run-write.ts';

const id = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
const at = '2026-11-21T10:00:00.000001+02:00';

const newRun = (n: number, parent: number | null, more: Partial<NewRunWrite> = {}): NewRunWrite => ({
  id: id(n),
  rank: 0,
  patched: 0,
  writes: [],
  start_time: at,
  metadata: '{}',
  session_name: undefined,
  fields:
    parent === null
      ? { trace_id: id(n), dotted_order: `20261121T080000000001Z${id(n)}` }
      : { parent_run_id: id(parent) },
  ...more,
});

const pathOf = (...ids: number[]): string => ids.map((n) => `20261121T080000000001Z${id(n)}`).join('.');

describe('runs of a batch', () => {
  it('get paths below their parents, in any order', () => {
    const runs = [newRun(3, 2), newRun(4, 2), newRun(2, 1), newRun(1, null)];
    assignPaths(runs);
    expect(runs.map((run) => run.fields.dotted_order)).toEqual([
      pathOf(1, 2, 3),
      pathOf(1, 2, 4),
      pathOf(1, 2),
      pathOf(1),
    ]);
    expect(runs.map((run) => run.fields.trace_id)).toEqual([id(1), id(1), id(1), id(1)]);
  });

  it('get no path without a parent in the batch, without a start, or in a cycle', () => {
    const runs = [
      newRun(1, 9),
      newRun(2, 1),
      newRun(3, 4),
      newRun(4, 3),
      newRun(5, null),
      newRun(6, 5, { start_time: null }),
      newRun(7, 6),
      newRun(8, 5, { rank: 1 }),
    ];
    const before = structuredClone(runs);
    assignPaths(runs);
    expect(runs).toEqual(before);
  });
});
