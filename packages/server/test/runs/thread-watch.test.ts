// The stream of a thread whose runs go while it is read.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { StreamEvent } from '../../src/api/handlers.ts';
import { RunFollower } from '../../src/deployment/runs/run-follower.ts';
import { createParsing } from '../../src/parsing/parsing.ts';
import { StateReader } from '../../src/deployment/threads/state-reader.ts';
import { ThreadWatch } from '../../src/deployment/threads/thread-watch.ts';
import { Bell } from '../../src/events/bell.ts';
import { LogTail } from '../../src/events/log-tail.ts';
import { RunStreams } from '../../src/events/run-streams.ts';
import { everyRow } from '../../src/storage/row-filter.ts';
import type { CancelAction } from '../../src/storage/runs.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { newAssistant, newRun } from './run-rows.ts';

it('the stream of a thread goes on when a run is rolled back just before it is read', async () => {
  await using db = await testDatabase();
  const storage = createStorage(db);
  const { runs, threads } = storage;
  const assistant_id = await newAssistant(db);
  const thread_id = randomUUID();
  await threads.create({ thread_id, metadata: {}, config: {} });
  const gone = newRun(assistant_id, thread_id);
  const other = newRun(assistant_id, thread_id);
  for (const run of [gone, other]) await runs.create(run);
  const cancel = (run_id: string, action: CancelAction) =>
    runs.cancel(thread_id, [run_id], { action, reason: 'asked', access: everyRow });
  await cancel(other.run_id, 'interrupt');

  const streams = new RunStreams();
  const bell = new Bell();
  const pollMs = 20;
  const logger = pino({ enabled: false });
  await using tail = new LogTail({
    streams,
    log: storage.runLog,
    runs,
    bell,
    pollMs,
    onLag: () => undefined,
    logger,
  });
  const nothingRuns = { has: () => false, listen: () => undefined };
  const reader = new StateReader(storage, createParsing(1_000_000, { warn: () => undefined }).parser);
  const follower = new RunFollower({ storage, dispatcher: nothingRuns, streams, tail, reader });
  const findNext: typeof runs.findNext = async (...asked) => {
    const next = await runs.findNext(...asked);
    if (next?.run_id === gone.run_id) await cancel(gone.run_id, 'rollback');
    return next;
  };
  const watch = new ThreadWatch({ threads, runs: { ...runs, findNext }, follower, bell, pollMs });

  const told: unknown[] = [];
  const watching = await watch.open(thread_id, everyRow, 'beginning', ['lifecycle']);
  const stop = watching.start({
    send: ({ event, data }: StreamEvent) => told.push([event, JSON.parse(data)]) > 0,
    drained: () => Promise.resolve(),
    end: () => told.push('end of the stream'),
    fail: (error) => told.push(error),
  });
  await eventually(() =>
    expect(told).toEqual([
      ['end', { run_id: gone.run_id, status: 'rollback' }],
      ['end', { run_id: other.run_id, status: 'interrupted' }],
    ]),
  );
  stop();
  await eventually(() => expect(told.at(-1)).toBe('end of the stream'));
});
