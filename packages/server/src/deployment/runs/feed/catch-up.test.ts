import { expect, it } from 'vitest';
import type { EventWriter } from '../../../api/handlers.ts';
import type { FedRun } from '../../../storage/deployment/run-changes.ts';
import type { RunStorage } from '../../../storage/deployment/runs.ts';
import { everyRow } from '../../../storage/postgres/row-filter.ts';
import { CatchUp } from './catch-up.ts';
import { FeedGroup } from './feed-group.ts';
import { toEventId } from './feed-position.ts';
import { FeedReader } from './feed-reader.ts';

const startMs = Date.parse('2026-01-31T12:00:00Z');
const timeAt = (second: number): string =>
  new Date(startMs + second * 1_000).toISOString().replace('Z', '000Z');
const now = 60;

/** A table whose runs have the seconds of their changes as ids. */
const tableOf = (seconds: readonly number[]) => {
  const rows = seconds.map((second) => ({
    run_id: String(second),
    updated_at: timeAt(second),
    attempt: 0,
  }));
  const runs: Pick<RunStorage, 'listChanged' | 'readChanged'> = {
    listChanged: (place, { limit }) => {
      const { updated_at: from = '', run_id = '' } = place ?? {};
      const found = rows
        .filter((row) => row.updated_at > from || (row.updated_at === from && row.run_id > run_id))
        .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
      const [read_at, next_since, oldest] = [timeAt(now), timeAt(now - 5), timeAt(now - 30)];
      return Promise.resolve({ read_at, next_since, oldest, rows: found.slice(0, limit) });
    },
    readChanged: (ids) => {
      const found = rows.filter(({ run_id }) => ids.includes(run_id));
      const read = found.map(({ run_id, updated_at }): FedRun => ({
        run_id,
        version_at: updated_at,
        version_attempt: 0,
      }));
      return Promise.resolve({ rows: read, hasMore: false, isCut: false });
    },
  };
  const commit = (second: number) =>
    rows.push({ run_id: String(second), updated_at: timeAt(second), attempt: 0 });
  return { runs, commit };
};

/** A reader that was away since second 0. One read of its catch-up returns two changes. */
const startCatchUp = (table: ReturnType<typeof tableOf>) => {
  const sent: string[] = [];
  const socket = { isSlow: false, drain: (): void => undefined };
  const sink: EventWriter = {
    send: ({ event, data }) => {
      sent.push(event === 'run' ? (JSON.parse(data) as { run_id: string }).run_id : String(event));
      return !socket.isSlow;
    },
    drained: () => new Promise((resolve) => (socket.drain = resolve)),
    end: () => undefined,
    fail: (error) => sent.push(String(error)),
  };
  const filter = { search: {}, access: everyRow, select: undefined };
  const group = new FeedGroup(table.runs, filter);
  const catchUp = new CatchUp(table.runs, 2);
  let waiting = true;
  const reader = new FeedReader(sink, toEventId(timeAt(0), []), () => (waiting = true));
  /** What the loop of the feed does. */
  const read = async () => {
    if (waiting) {
      waiting = false;
      const readAt = reader.begin({ readAt: timeAt(now), id: 'now', replayMs: 120_000 });
      if (readAt !== undefined) catchUp.add({ reader, group, readAt, epoch: reader.epoch });
    }
    await catchUp.read();
  };
  const readUntilLive = async () => {
    for (let count = 0; count < 50 && !sent.includes('position') && !sent.includes('gap'); count++)
      await read();
  };
  return { sent, socket, read, readUntilLive };
};

it('a reader whose socket is full for one read of its catch-up is sent the changes of that read', async () => {
  const { sent, socket, read, readUntilLive } = startCatchUp(tableOf([1, 2, 3, 4, 5]));
  socket.isSlow = true;
  await read();
  await read();
  expect(sent).toEqual(['1', '2']);
  socket.isSlow = false;
  socket.drain();
  await readUntilLive();
  expect(sent).toEqual(['1', '2', '3', '4', '5', 'position']);
});

it('a reader whose socket drains between two reads of its catch-up is sent all changes', async () => {
  const table = tableOf([1, 2, 3, 4, 5, 6, 7]);
  const { sent, socket, read, readUntilLive } = startCatchUp(table);
  await read();
  socket.isSlow = true;
  await read();
  socket.isSlow = false;
  socket.drain();
  await Promise.resolve();
  await readUntilLive();
  expect(sent).toEqual(['1', '2', '3', '4', '5', '6', '7', 'position']);
});

it('a change that commits behind the reads of a catch-up is sent before the reader is live', async () => {
  const table = tableOf([50, 52, 54]);
  const { sent, read, readUntilLive } = startCatchUp(table);
  await read();
  table.commit(51);
  await readUntilLive();
  expect(sent.toSorted()).toEqual(['50', '51', '52', '54', 'position']);
  expect(sent.at(-1)).toBe('position');
});

it('a reader is sent a gap when runs change faster than they are read', async () => {
  const table = tableOf([56, 57, 58]);
  const { sent, readUntilLive } = startCatchUp(table);
  await readUntilLive();
  expect(sent).toEqual(['56', '57', '58', 'gap']);
});
