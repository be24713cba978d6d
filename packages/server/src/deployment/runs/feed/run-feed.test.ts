import { expect, it } from 'vitest';
import type { EventWriter } from '../../../api/handlers.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { everyRow } from '../../../storage/postgres/row-filter.ts';
import { RunFeed } from './run-feed.ts';

const time = '2026-01-31T12:00:00.000000Z';

it('a reader that comes while a stopped loop reads begins in the next loop', async () => {
  // Each read waits until the test answers it.
  const reads: (() => void)[] = [];
  const listChanged: RunStorage['listChanged'] = () =>
    new Promise((resolve) => {
      reads.push(() => resolve({ read_at: time, next_since: time, oldest: time, rows: [] }));
    });
  const runs = {
    listChanged,
    readChanged: () => Promise.resolve({ rows: [], hasMore: false, isCut: false }),
  };
  const feed = new RunFeed({ runs, logger: { error: () => undefined } });
  const sent: (string | undefined)[] = [];
  const sink: EventWriter = {
    send: ({ event }) => sent.push(event) > 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
    fail: () => undefined,
  };
  const filter = { search: {}, access: everyRow, select: undefined };
  const leave = feed.open(filter, undefined, sink);
  await expect.poll(() => reads.length).toBe(1);
  leave();
  const leaveNext = feed.open(filter, undefined, sink);
  reads[0]?.();
  await expect.poll(() => reads.length).toBe(2);
  expect(sent).toEqual([]);
  reads[1]?.();
  await expect.poll(() => sent).toEqual(['position']);
  leaveNext();
  await feed.end();
});
