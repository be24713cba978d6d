// Runs that are cancelled, followed or recovered between their claim and their start.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunUsers } from '../../src/auth/sealed-users/run-users.ts';
import { loadSvcJson } from '../../src/config/project/svc-json.ts';
import type { NotificationBus, NotificationKind } from '../../src/jobs/notification-bus.ts';
import { RunLogTail } from '../../src/engine/streams/run-log-tail.ts';
import { RunEventHub } from '../../src/engine/streams/run-event-hub.ts';
import { Dispatcher } from '../../src/engine/dispatch/dispatcher.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import type { LostAttempt } from '../../src/storage/deployment/runs/run-rows.ts';
import { createStorage, type Storage } from '../../src/storage/storage.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { testDatabase, type TestDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { testProject } from '../server.ts';
import { newAssistant, newRun } from './run-rows.ts';

/** Notifications that the test sends itself. */
class ManualNotifications implements Pick<NotificationBus, 'on' | 'onMissed'> {
  readonly #listeners = new Map<NotificationKind, (id: string) => void>();

  on(kind: NotificationKind, listener: (id: string) => void): void {
    this.#listeners.set(kind, listener);
  }

  onMissed(): void {
    // Nothing is.
  }

  ring(kind: NotificationKind, id = ''): void {
    this.#listeners.get(kind)?.(id);
  }
}

let db: TestDatabase;
let storage: Storage;
let notifications: ManualNotifications;
let worker: Dispatcher;
let tail: RunLogTail;
/** Hooks around the query that loads the settings of a claimed run. */
let whileStarting: { before?: () => Promise<void>; after?: () => Promise<void> };
/** This run has no settings, as if its assistant had been deleted. */
let unstartable: string | undefined;
/** Runs whose start settings cannot be read: the statement fails if it reads one of them. */
const unreadable = new Set<string>();
/** The error of the statement. */
let unreadableError: Error;
/** Called instead of the statement that ends a run. */
let failStop: (() => Promise<void>) | undefined;

/** Polls and lease renewals happen hours apart, so within a test only notifications trigger work. */
const rareMs = 10 * 60 * 60 * 1_000;
/** Starts `worker` with leases that last that long. With an unknown `level`, its executors end before they are ready. */
const startWorker = (leaseMs: number, level = 'silent'): void => {
  notifications = new ManualNotifications();
  const project = loadSvcJson(testProject, {});
  const streams = new RunEventHub(storage.runLog);
  const shared = {
    streams,
    notifications: notifications as unknown as NotificationBus,
    runs: storage.runs,
    pollMs: rareMs,
  };
  const logger = createLogger({ level: 'silent', format: 'json' });
  tail = new RunLogTail({ ...shared, log: storage.runLog, onLag: () => undefined, logger });
  worker = new Dispatcher({
    onEnded: () => undefined,
    ...shared,
    worker_id: randomUUID(),
    queue: storage.runQueue,
    leases: {
      ...storage.runLeases,
      async settings(run_ids) {
        await whileStarting.before?.();
        if (run_ids.some((run_id) => unreadable.has(run_id))) throw unreadableError;
        const settings = await storage.runLeases.settings(run_ids);
        await whileStarting.after?.();
        return settings.filter(({ run_id }) => run_id !== unstartable);
      },
      stop: (...args) => failStop?.() ?? storage.runLeases.stop(...args),
    },
    users: new RunUsers(undefined, false),
    tail,
    leaseMs,
    attemptsMax: 3,
    limits: { timeoutMs: rareMs, graceMs: rareMs },
    logger,
    executors: 1,
    // A claim takes half of the free slots.
    slots: { least: 4, most: 4 },
    solitaryMax: 1,
    setup: {
      database: db.options,
      graphs: [...project.graphs],
      env: project.env,
      log: { level: level as 'silent', format: 'json' },
    },
  });
};
beforeEach(async () => {
  // A database of its own, so that no other run can be claimed.
  db = await testDatabase();
  storage = createStorage(db);
  whileStarting = {};
  unstartable = undefined;
  unreadable.clear();
  unreadableError = new Error('the settings are wrong');
  failStop = undefined;
});
afterEach(async () => {
  await worker[Symbol.asyncDispose]();
  await tail[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Creates a run of the graph `probe`. */
const probe = async (input: object): Promise<{ run_id: string; thread_id: string }> => {
  const thread_id = randomUUID();
  const kwargs = {
    input,
    stream_mode: ['custom'],
    stream_subgraphs: false,
    durability: 'async',
  };
  const run = { ...newRun(await newAssistant(db, 'probe'), thread_id), kwargs: JSON.stringify(kwargs) };
  await storage.runs.create(run);
  return { run_id: run.run_id, thread_id };
};
/** Ends when its signal is aborted. */
const waitingRun = () => probe({ do: 'waitForAbort' });

describe.each(['before', 'after'] as const)('a claimed run, just %s its start settings are read', (when) => {
  beforeEach(() => startWorker(rareMs));

  it('is cancelled, and stops as soon as it has started', async () => {
    const { run_id, thread_id } = await waitingRun();
    whileStarting[when] = async () => {
      const how = { action: 'interrupt', reason: 'a test', access: everyRow } as const;
      expect(await storage.runs.cancel(thread_id, [run_id], how)).toMatchObject([{ outcome: 'stopping' }]);
      // Before the read, the notification may be lost: the read itself returns the cancel.
      if (when === 'after') notifications.ring('c', run_id);
    };
    notifications.ring('p');
    await eventually(async () =>
      expect(await storage.runs.states([run_id])).toMatchObject([{ status: 'interrupted' }]),
    );
  });

  it('is followed on another node, and logs its events from then on', async () => {
    const { run_id } = await waitingRun();
    whileStarting[when] = async () => {
      expect(await storage.runs.follow(run_id, 'events')).toBe('running');
      notifications.ring('l', run_id);
    };
    notifications.ring('p');
    const text = 'select 1 from run_events where run_id = $1 limit 1';
    await eventually(async () => expect(await db.query({ name: 'logged', text }, [run_id])).toHaveLength(1));
  });
});

describe('a claimed run that cannot start, and whose end cannot be stored at once,', () => {
  beforeEach(() => startWorker(rareMs));

  it('ends when it can be stored; the other runs of the claim have started meanwhile', async () => {
    const stuck = await waitingRun();
    const other = await probe({ do: 'write', ms: 1, out: 'wrote' });
    unstartable = stuck.run_id;
    failStop = () => Promise.reject(new Problem('unavailable', 'The database cannot be reached'));
    notifications.ring('p');
    await eventually(async () =>
      expect(await storage.runs.states([other.run_id])).toMatchObject([{ status: 'success' }]),
    );
    expect(await storage.runs.states([stuck.run_id])).toMatchObject([{ status: 'running' }]);
    failStop = undefined;
    await eventually(async () =>
      expect(await storage.runs.states([stuck.run_id])).toMatchObject([{ status: 'error' }]),
    );
  });
});

// The worker starts when the runs are there, so that its first claim has both.
describe('a claimed run whose start settings cannot be read', () => {
  it('fails after three attempts, with the reason; the other runs of its claims start', async () => {
    const poison = await waitingRun();
    const other = await probe({ do: 'write', ms: 1, out: 'wrote' });
    unreadable.add(poison.run_id);
    startWorker(rareMs);
    notifications.ring('p');
    await eventually(async () =>
      expect(await storage.runs.states([other.run_id])).toMatchObject([{ status: 'success' }]),
    );
    await eventually(async () => {
      expect(await storage.runs.states([poison.run_id])).toMatchObject([{ status: 'error' }]);
      const [row] = await db.query<{ error: string }>(
        { name: 'error', text: 'select error from runs where run_id = $1' },
        [poison.run_id],
      );
      expect(row?.error).toContain('its start settings cannot be read: the settings are wrong');
    });
    expect(worker.unstarted).toBe(3);
  });

  it('is claimed again after pauses, in smaller claims, when the database is unavailable', async () => {
    const runs = [await waitingRun(), await waitingRun()];
    for (const { run_id } of runs) unreadable.add(run_id);
    unreadableError = new Problem('unavailable', 'The database cannot be reached');
    const read: number[] = [];
    whileStarting.before = () => {
      read.push(worker.unstarted);
      if (read.length === 4) unreadable.clear();
      return Promise.resolve();
    };
    startWorker(rareMs);
    notifications.ring('p');
    await eventually(() => expect(runs.map(({ run_id }) => worker.has(run_id))).toEqual([true, true]));
    // Two runs, one and one were given back.
    expect(read.slice(0, 4)).toEqual([0, 2, 3, 4]);
    expect(worker.unstarted).toBe(4);
  });
});

describe('an executor that ends before it is ready', () => {
  it('gets no run', async () => {
    startWorker(rareMs, 'an unknown level');
    const { run_id } = await waitingRun();
    notifications.ring('p');
    await eventually(() => expect(worker.pool.crashes).toBeGreaterThan(2));
    expect(worker.reserve()).toBe(false);
    const text = 'select status, lease_token::integer from runs where run_id = $1';
    expect(await db.query({ name: 'state', text }, [run_id])).toEqual([
      { status: 'pending', lease_token: 0 },
    ]);
  });
});

interface Attempts {
  status: string;
  attempt: number;
  lost_attempts: LostAttempt[];
}

describe('a claim that is answered after its lease has ended', () => {
  beforeEach(() => startWorker(5_000));

  it('starts no attempt, and is not charged when the run was recovered meanwhile', async () => {
    const { run_id } = await probe({ do: 'write', ms: 1, out: 'wrote' });
    const facts = { slots: 2, running: 0, blocked_executors: 0, connections: 0, draining: false, graphs: [] };
    const { worker_id } = worker;
    await storage.workers.report({ worker_id, name: 'host:7', ...facts, machine: null, process: '7 0' });
    whileStarting.before = async () => {
      delete whileStarting.before;
      await eventually(async () => expect(await storage.runLeases.recover(3)).toHaveLength(1));
    };
    notifications.ring('p');
    await eventually(async () => {
      const text = 'select status, attempt, lost_attempts from runs where run_id = $1';
      const [row] = await db.query<Attempts>({ name: 'attempts', text }, [run_id]);
      expect(row).toMatchObject({ status: 'success', attempt: 1 });
      const message = expect.stringMatching(
        /It says: the claim was answered after ([5-9]|\d\d+)\.\d s/,
      ) as string;
      // On a busy machine, the attempt that follows may lose its lease too.
      const lost = row!.lost_attempts.filter(({ lease_token }) => lease_token === 1);
      expect(lost).toMatchObject([{ charged: false, message }]);
    });
  });
});
