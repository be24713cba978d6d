// Events of runs that execute on another node, when notifications are lost.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { NotificationBus } from '../../src/jobs/notification-bus.ts';
import { RunLogTail } from '../../src/engine/streams/run-log-tail.ts';
import { RunEventHub, type RunEventStream } from '../../src/engine/streams/run-event-hub.ts';
import { noItems } from '../../src/engine/checkpoints/commit-queue.ts';
import { checkpointStorage } from '../../src/storage/deployment/checkpoints/checkpoints.ts';
import type { CheckpointBatch, Ending } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runLogStorage } from '../../src/storage/deployment/runs/run-log.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import type { CancelAction } from '../../src/storage/deployment/runs/run-rows.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

interface Run {
  run_id: string;
  thread_id: string;
}

const startRun = async (): Promise<Run> => {
  const run = { run_id: randomUUID(), thread_id: randomUUID() };
  await threadStorage(db).create({ thread_id: run.thread_id, metadata: {}, config: {} });
  const requested = { ...newRun(assistant_id, run.thread_id), run_id: run.run_id, claim: true };
  const created = await runStorage(db).create({ ...requested, log: 'events', resumable: true });
  expect(created).toMatchObject({ outcome: 'created', status: 'running' });
  return run;
};

/** Stores the last flush of a run: the given number of events, each in a row of its own, and its end. */
const endRun = async ({ run_id: owner, thread_id }: Run, length: number, bytes = 0): Promise<void> => {
  const success: Ending = {
    thread_id,
    status: 'success',
    ending: null,
    interrupts: null,
    error: null,
    values: '{"out":1}',
    told: true,
  };
  const batch: CheckpointBatch = {
    ...noItems(),
    owners: [{ owner, lease_token: 1 }],
    events: Array.from({ length }, (_, at) => ({
      owner,
      first_id: at,
      last_id: at,
      events: `custom\n{"at":${at},"text":"${'x'.repeat(bytes)}"}\n`,
      keep_from: null,
    })),
    endings: [{ owner, ...success }],
  };
  expect(await checkpointStorage(db).commit(batch)).toEqual([]);
};

/** The ids of the events that a reader gets. With `drained` it is behind after each event until this resolves. */
const idsOf = (stream: RunEventStream, drained?: () => Promise<void>): number[] => {
  const ids: number[] = [];
  const reader = {
    send: ({ id }: { id: number }) => ids.push(id) > 0 && drained === undefined,
    drained: drained ?? (() => Promise.resolve()),
  };
  void stream.subscribe().read(reader);
  return ids;
};

/** Follows the run; the follower has read the log to its end once and gets no notifications after that. */
const follow = async (run_id: string, consumed?: () => Promise<void>) => {
  const log = runLogStorage(db);
  const streams = new RunEventHub(log);
  let reads = 0;
  const tail = new RunLogTail({
    streams,
    log: { ...log, news: (...args) => log.news(...args).finally(() => reads++) },
    runs: runStorage(db),
    notifications: new NotificationBus(),
    pollMs: 20,
    onLag: () => undefined,
    logger: pino({ enabled: false }),
  });
  const stream: RunEventStream = streams.open(run_id, { streamed: true });
  const ids = idsOf(stream, consumed);
  tail.follow(stream);
  await eventually(() => expect(reads).toBeGreaterThan(0));
  return { streams, tail, stream, ids, [Symbol.asyncDispose]: () => tail[Symbol.asyncDispose]() };
};

describe('a follower without notifications', () => {
  const length = 700;
  const all = Array.from({ length }, (_, at) => at);

  it('gets all events of an ended run, and then its outcome', async () => {
    const run = await startRun();
    await using follower = await follow(run.run_id);
    await endRun(run, length);
    expect(await follower.stream.outcome).toEqual({ status: 'success', error: null, values: '{"out":1}' });
    expect(follower.ids).toEqual(all);
  });

  it('gets all events of a run that was rolled back and has no row', async () => {
    const run = await startRun();
    await using follower = await follow(run.run_id);
    const rollback = { action: 'rollback' as CancelAction, reason: 'asked', access: everyRow };
    await runStorage(db).cancel(run.thread_id, [run.run_id], rollback);
    await endRun(run, length);
    expect(await follower.stream.outcome).toMatchObject({ status: 'success', error: null });
    expect(follower.ids).toEqual(all);
  });

  it('reads large logs in parts, each in turn', async () => {
    const runs = [await startRun(), await startRun(), await startRun()];
    const followers = await Promise.all(runs.map(({ run_id }) => follow(run_id)));
    await using _ = {
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all(followers.map((one) => one[Symbol.asyncDispose]()))),
    };
    for (const run of runs) await endRun(run, 4, 1_500_000);
    for (const { stream, ids } of followers) {
      expect(await stream.outcome).toMatchObject({ status: 'success' });
      expect(ids).toEqual([0, 1, 2, 3]);
    }
  });
});

describe('new rows of logs', () => {
  it('stop at a byte limit, and take one row of each log before a second row of any', async () => {
    const runs = [await startRun(), await startRun()];
    for (const run of runs) await endRun(run, 3, 1_000);
    const positions = runs.map(({ run_id }) => ({ run_id, next_id: 0 }));
    const news = async (all: number) => {
      const { rows, isCut } = await runLogStorage(db).news(positions, { log: 1_000_000, all });
      return {
        first: rows.map(({ run_id, first_id }) => [runs.findIndex((run) => run.run_id === run_id), first_id]),
        isCut,
      };
    };
    expect(await news(1)).toEqual({ first: [[0, 0]], isCut: true });
    expect(await news(3_500)).toEqual({
      first: [
        [0, 0],
        [1, 0],
        [0, 1],
      ],
      isCut: true,
    });
    expect((await news(1_000_000)).isCut).toBe(false);
  });
});

describe('a follower whose reader does not consume', () => {
  it('reads one part of the log, continues when the reader does, and does not delay other runs', async () => {
    const [slow, other] = [await startRun(), await startRun()];
    let take!: () => void;
    const taken = new Promise<void>((resolve) => (take = resolve));
    await using follower = await follow(slow.run_id, () => taken);
    await endRun(slow, 300, 10_000);
    await eventually(() => expect(follower.ids.length).toBeGreaterThan(0));
    const stream = follower.streams.open(other.run_id, { streamed: true });
    const ids = idsOf(stream);
    follower.tail.follow(stream);
    await endRun(other, 700);
    await stream.outcome;
    expect(ids).toHaveLength(700);
    expect(follower.ids.length).toBeLessThan(40);
    take();
    await follower.stream.outcome;
    expect(follower.ids).toEqual(Array.from({ length: 300 }, (_, at) => at));
  });

  it('reads the whole log when another reader waits for the outcome', async () => {
    const run = await startRun();
    await using follower = await follow(run.run_id, () => new Promise(() => undefined));
    follower.stream.retain();
    await endRun(run, 300, 10_000);
    await follower.stream.outcome;
    expect(follower.ids).toHaveLength(300);
  });
});
