import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChangedRun } from '../../../storage/deployment/run-changes.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { ChangeScan } from './change-scan.ts';

const startMs = Date.parse('2026-01-31T12:00:00Z');
/** A time in seconds as the database writes it. */
const timeAt = (second: number): string =>
  new Date(startMs + second * 1_000).toISOString().replace('Z', '000Z');
const secondOf = (time: string): number => (Date.parse(time) - startMs) / 1_000;

/** A transaction that changes a run. The change has the time of its beginning, and is visible from its end on. */
interface Change {
  run: number;
  begins: number;
  takes: number;
}

/** A table of runs whose changes become visible as time goes on. Changes of one run come one after the other. */
const tableOf = (changes: readonly Change[]) => {
  const free = new Map<number, number>();
  const rows = changes
    .toSorted((a, b) => a.begins - b.begins)
    .map(({ run, begins, takes }, at) => {
      const began = Math.max(begins, free.get(run) ?? 0);
      free.set(run, began + takes + 0.5);
      return { run, began, ended: began + takes, attempt: at };
    });
  let now = 0;
  const visible = (): ChangedRun[] =>
    [...new Map(rows.filter(({ ended }) => ended <= now).map((row) => [row.run, row])).values()].map(
      ({ run, began, attempt }) => ({ run_id: `run ${run}`, updated_at: timeAt(began), attempt }),
    );
  const listChanged: RunStorage['listChanged'] = (place, { limit, withOverlap = place === undefined }) => {
    const from = timeAt((place ? secondOf(place.updated_at) : now) - (withOverlap ? 30 : 0));
    const writing = rows.filter(({ began, ended }) => began <= now && ended > now).map(({ began }) => began);
    const found = visible()
      .filter(
        (row) => row.updated_at > from || (row.updated_at === from && row.run_id > (place?.run_id ?? '')),
      )
      .toSorted((a, b) => (a.updated_at + a.run_id < b.updated_at + b.run_id ? -1 : 1));
    return Promise.resolve({
      read_at: timeAt(now),
      next_since: timeAt(Math.max(now - 30, Math.min(now - 5, ...writing))),
      oldest: timeAt(now - 30),
      rows: found.slice(0, limit),
    });
  };
  return { listChanged, visible, setNow: (second: number) => (now = second) };
};

const change = fc.record({
  run: fc.nat(8),
  begins: fc.integer({ min: 0, max: 60 }),
  takes: fc.integer({ min: 0, max: 24 }),
});

it('finds the newest state of every run, and no state twice, however late changes become visible', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.boolean(), { maxLength: 30 }),
      async (changes, limit, failures) => {
        const table = tableOf(changes);
        const scan = new ChangeScan(table, timeAt(0), limit);
        const found: string[] = [];
        const last = new Map<string, number>();
        let reads = 0;
        const read = async (): Promise<boolean> => {
          const { changed, isComplete, settle } = await scan.read();
          // What could not be sent is read again.
          if (failures[reads++]) return false;
          settle();
          for (const { run_id, updated_at, attempt } of changed) {
            found.push(`${run_id} ${updated_at} ${attempt}`);
            last.set(run_id, attempt);
          }
          return isComplete;
        };
        for (let second = 1; second <= 240; second++) {
          table.setNow(second);
          for (let isComplete = false; !isComplete;) isComplete = await read();
        }
        expect(new Set(found).size).toBe(found.length);
        expect(last).toEqual(new Map(table.visible().map(({ run_id, attempt }) => [run_id, attempt])));
      },
    ),
    { numRuns: 50 },
  );
});
