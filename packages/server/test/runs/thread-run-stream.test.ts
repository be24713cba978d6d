// The stream of a thread: its number of queries, and runs that are deleted while it is read.
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventStreamResponse, type EventWriter, type StreamEvent } from '../../src/api/handlers.ts';
import { endOfRun, type ThreadPosition } from '../../src/deployment/runs/call-headers.ts';
import { RunOutcomeReader } from '../../src/deployment/runs/run-outcome-reader.ts';
import type { StateTasks } from '../../src/deployment/threads/state-rendering.ts';
import type { JsonTasks } from '../../src/parsing/json-task.ts';
import { createParsing } from '../../src/parsing/parsing.ts';
import { StateReader } from '../../src/deployment/threads/state-reader.ts';
import {
  ThreadRunStream,
  type ThreadRunStreamOptions,
} from '../../src/deployment/threads/thread-run-stream.ts';
import { WatchedThreads } from '../../src/deployment/threads/watched-thread.ts';
import { NotificationBus } from '../../src/jobs/notification-bus.ts';
import { RunLogTail } from '../../src/engine/streams/run-log-tail.ts';
import { RunEventHub } from '../../src/engine/streams/run-event-hub.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
let queries: number;
let streams: RunEventHub;
let storage: ReturnType<typeof createStorage>;
let tail: RunLogTail;
let thread_id: string;

beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

const counting: Database['query'] = (...args) => {
  queries += 1;
  return db.query(...args);
};

beforeEach(async () => {
  queries = 0;
  storage = createStorage({ ...db, query: counting });
  streams = new RunEventHub(storage.runLog);
  const { runLog: log, runs } = storage;
  const logger = pino({ enabled: false });
  tail = new RunLogTail({
    streams,
    log,
    runs,
    notifications: new NotificationBus(),
    pollMs: 20,
    onLag: () => undefined,
    logger,
  });
  thread_id = randomUUID();
  await storage.threads.create({ thread_id, metadata: {}, config: {} });
});
afterEach(() => tail[Symbol.asyncDispose]());

const cancel = (run_id: string, action: 'interrupt' | 'rollback') =>
  storage.runs.cancel(thread_id, [run_id], { action, reason: 'requested', access: everyRow });

/** Inserts runs that ended one after the other, `logged` of them with one event in their logs. */
const insertEnded = async (count: number, logged = 0): Promise<void> => {
  const insert = {
    name: '',
    text: `with ended as (
        insert into runs (run_id, thread_id, assistant_id, status, metadata, kwargs, created_at)
        select gen_random_uuid(), $1, $2, 'success', '{}', '{}', now() - interval '1 day' + n * interval '1 s'
        from generate_series(1, $3::integer) n returning run_id, created_at
      )
      insert into run_events (run_id, first_id, last_id, events, outcome)
      select run_id, 0, 0, E'custom\\n1\\n', '{"status":"success","error":null,"values":null}'
      from ended order by created_at limit $4`,
  };
  await db.query(insert, [thread_id, assistant_id, count, logged]);
};

const openWatch = async (
  position: ThreadPosition,
  replaced: {
    modes?: string[];
    runs?: Partial<ThreadRunStreamOptions['runs']>;
    storage?: typeof storage;
  } = {},
) => {
  const { threads, runs } = storage;
  const outcomes = new RunOutcomeReader({
    storage: replaced.storage ?? storage,
    dispatcher: { has: () => false, listen: () => undefined },
    streams,
    tail,
    reader: new StateReader(
      storage,
      createParsing<JsonTasks & StateTasks>(1_000_000, { warn: () => undefined }).parser,
    ),
  });
  const events = new ThreadRunStream({
    threads: new WatchedThreads(threads, new NotificationBus(), 20),
    runs: { ...runs, ...replaced.runs },
    outcomes,
  });
  const received: unknown[] = [];
  const ids: (string | undefined)[] = [];
  const sink: EventWriter = {
    send: ({ id, event, data }: StreamEvent) => {
      ids.push(id);
      return received.push([event, JSON.parse(data)]) > 0;
    },
    drained: () => Promise.resolve(),
    end: () => received.push('end of the stream'),
    fail: (error) => received.push(error),
  };
  const reader = { thread_id, access: everyRow };
  const source = await events.open(reader, position, replaced.modes ?? ['lifecycle']);
  return { received, ids, stop: new EventStreamResponse(source).start(sink) };
};

describe('the stream of a thread', () => {
  it('continues when a run is rolled back just before it is read', async () => {
    const rolledBack = newRun(assistant_id, thread_id);
    const other = newRun(assistant_id, thread_id);
    for (const run of [rolledBack, other]) await storage.runs.create(run);
    await cancel(other.run_id, 'interrupt');
    const listNext: typeof storage.runs.listNext = async (...args) => {
      const next = await storage.runs.listNext(...args);
      if (next?.some(({ run_id }) => run_id === rolledBack.run_id))
        await cancel(rolledBack.run_id, 'rollback');
      return next;
    };
    const { received, stop } = await openWatch('beginning', { runs: { listNext } });
    await eventually(() =>
      expect(received).toEqual([
        ['end', { run_id: rolledBack.run_id, status: 'rollback' }],
        ['end', { run_id: other.run_id, status: 'interrupted' }],
      ]),
    );
    stop();
    await eventually(() => expect(received.at(-1)).toBe('end of the stream'));
  });

  it('of 5,000 past runs reaches the run in flight with a few queries', async () => {
    await insertEnded(5_000);
    const run = newRun(assistant_id, thread_id);
    await storage.runs.create(run);
    queries = 0;
    const { received, stop } = await openWatch(undefined);
    await eventually(() => expect(streams.size).toBe(1));
    expect(queries).toBeLessThan(10);
    await cancel(run.run_id, 'interrupt');
    await eventually(() =>
      expect(received).toEqual([['end', { run_id: run.run_id, status: 'interrupted' }]]),
    );
    stop();
  });

  it.each([[[]], [['run_modes']]])(
    'reports that a run is done, also one without a log: modes %j',
    async (modes) => {
      await insertEnded(1);
      const { received, stop } = await openWatch('beginning', { modes });
      await eventually(() =>
        expect(received).toEqual([['run_done', { run_id: expect.any(String), status: 'success' }]]),
      );
      stop();
    },
  );

  it('does not repeat the end of a run for a reader that has received it', async () => {
    await insertEnded(2, 2);
    const modes = ['run_modes', 'lifecycle'];
    const { ids, stop } = await openWatch('beginning', { modes });
    await eventually(() => expect(ids).toHaveLength(6));
    stop();
    const [run_id, after] = ids[2]?.split(':') ?? [];
    expect(after).toBe(endOfRun);
    const again = await openWatch({ run_id: run_id ?? '', after: endOfRun }, { modes });
    await eventually(() => expect(again.ids).toEqual(ids.slice(3)));
    again.stop();
  });

  it('continues after past runs with the next one, from its start', async () => {
    await insertEnded(3, 3);
    const { received, stop } = await openWatch(undefined);
    await eventually(() => expect(queries).toBeGreaterThan(3));
    const run = newRun(assistant_id, thread_id);
    await storage.runs.create(run);
    await cancel(run.run_id, 'interrupt');
    await eventually(() =>
      expect(received).toEqual([['end', { run_id: run.run_id, status: 'interrupted' }]]),
    );
    stop();
  });

  it('from its beginning reports 5,000 past runs without logs with a few queries', async () => {
    await insertEnded(5_000);
    queries = 0;
    const { received, stop } = await openWatch('beginning');
    await eventually(() => expect(received).toHaveLength(5_000));
    expect(queries).toBeLessThan(30);
    stop();
  });

  it('leaves no listener behind for the runs that it has read', async () => {
    await insertEnded(20, 20);
    const add = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const remove = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
    const { received, stop } = await openWatch('beginning');
    await eventually(() => expect(received).toHaveLength(20));
    // At most the listener of the pause between two polls is left.
    await eventually(() => expect(add.mock.calls.length - remove.mock.calls.length).toBeLessThanOrEqual(1));
    expect(add.mock.calls.length).toBeGreaterThanOrEqual(20);
    vi.restoreAllMocks();
    stop();
  });

  it('ends when its reader disconnects while the subscription to a run is created', async () => {
    const run = newRun(assistant_id, thread_id);
    await storage.runs.create(run);
    const { runs } = storage;
    let isFollowing = false;
    let goOn = (): void => undefined;
    const hold = new Promise<void>((resolve) => (goOn = resolve));
    const slow: typeof runs.follow = async (...args) => {
      isFollowing = true;
      await hold;
      return runs.follow(...args);
    };
    const { received, stop } = await openWatch(undefined, {
      storage: { ...storage, runs: { ...runs, follow: slow } },
    });
    await eventually(() => expect(isFollowing).toBe(true));
    stop();
    goOn();
    await eventually(() => expect(received).toEqual(['end of the stream']));
    expect(streams.size).toBe(0);
    expect(await runs.states([run.run_id])).toMatchObject([{ status: 'pending' }]);
  });
});
