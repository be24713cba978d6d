// The connection breaks while a run is stored: the request is retried, and the run starts with the lease that was stored.
import { randomUUID } from 'node:crypto';
import { Problem } from '@svc/contract/problem';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { RunUsers } from '../../src/auth/sealed-users/run-users.ts';
import type { GrantedRun } from '../../src/deployment/runs/run-grant.ts';
import { RunService } from '../../src/deployment/runs/run-service.ts';
import type { RunLogTail } from '../../src/engine/streams/run-log-tail.ts';
import { RunEventHub } from '../../src/engine/streams/run-event-hub.ts';
import type { Dispatcher } from '../../src/engine/dispatch/dispatcher.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { runStorage, type RunStorage } from '../../src/storage/deployment/runs/runs.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { newAssistant } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

/** When each try was made, on the monotonic clock. */
let triedMs: number[];
/** When the leases of the started runs began. */
let startedMs: number[];
let startedRuns: string[];
/** Runs that were sent a stop command. */
let stopped: string[];
/** Runs that were given back. */
let givenBack: string[];
let mayStart: boolean;
beforeEach(() => {
  mayStart = true;
  triedMs = [];
  startedMs = [];
  startedRuns = [];
  stopped = [];
  givenBack = [];
});

const dispatcher = {
  worker_id: randomUUID(),
  leaseMs: 30_000,
  reserve: () => true,
  unreserve: () => undefined,
  mayStart: () => mayStart,
  start: ({ run_id }: { run_id: string }, sinceMs: number) => {
    startedRuns.push(run_id);
    startedMs.push(sinceMs);
  },
  cancel: (run_id: string) => void stopped.push(run_id),
  giveBackCreated: (run_ids: string[]) => void givenBack.push(...run_ids),
} as unknown as Dispatcher;

/** `firstTry` is the effect of the first try; its response is lost. */
const serviceWith = (
  firstTry: RunStorage['create'] | undefined,
  more: Partial<RunStorage> = {},
): RunService => {
  const storage = createStorage(db);
  const create: RunStorage['create'] = async (run) => {
    triedMs.push(performance.now());
    if (triedMs.length > 1) return storage.runs.create(run);
    await firstTry?.(run);
    throw new Problem('unavailable', 'The connection broke');
  };
  return new RunService({
    storage: { ...storage, runs: { ...storage.runs, create, ...more } },
    dispatcher,
    streams: new RunEventHub(storage.runLog),
    tail: {} as RunLogTail,
    webhooks: { accept: (url) => url },
    users: new RunUsers(undefined, false),
    graphs: new Set(['agent']),
    onDeletionRepeated: () => {},
  });
};

const granted = (): GrantedRun => ({
  request: {
    assistant_id,
    kwargs: {} as GrantedRun['request']['kwargs'],
    metadata: {},
    multitask_strategy: 'enqueue',
    if_not_exists: 'create',
    cancelOnDisconnect: false,
    delayMs: 0,
    keep: false,
    webhook: null,
  },
  grant: {
    run_id: randomUUID(),
    assistant_id,
    access: AccessFilter.everything,
    assistantAccess: everyRow,
    user: undefined,
  },
});

describe('the lease of a run that is created by a retried statement', () => {
  it('counts from the first try when that try stored the run', async () => {
    await serviceWith((run) => runStorage(db).create(run)).create(randomUUID(), granted());
    expect(triedMs).toHaveLength(2);
    expect(startedMs).toHaveLength(1);
    expect(startedMs[0]).toBeLessThanOrEqual(triedMs[0] ?? 0);
  });

  it('counts from the second try when the first try stored nothing', async () => {
    await serviceWith(undefined).create(randomUUID(), granted());
    expect(triedMs).toHaveLength(2);
    expect(startedMs).toHaveLength(1);
    expect(startedMs[0]).toBeGreaterThanOrEqual(triedMs[1] ?? Infinity);
  });
});

describe('a run that a retry finds stored', () => {
  it('is left for a claim when it was started meanwhile, or when its lease has ended', async () => {
    mayStart = false;
    await serviceWith((run) => runStorage(db).create(run)).create(randomUUID(), granted());
    expect(triedMs).toHaveLength(2);
    expect(startedMs).toEqual([]);
  });

  it('is left to the worker that has claimed it since', async () => {
    const createAndLose: RunStorage['create'] = async (request) => {
      const created = await runStorage(db).create(request);
      const text = 'update runs set lease_token = lease_token + 1 where run_id = $1';
      await db.query({ name: 'lose', text }, [request.run_id]);
      return created;
    };
    const find: RunStorage['find'] = async (...args) => {
      const row = await runStorage(db).find(...args);
      return row && { ...row, lease_token: 1 };
    };
    await serviceWith(createAndLose, { find }).create(randomUUID(), granted());
    expect(startedMs).toEqual([]);
  });
});

describe('a run that was cancelled before the retry', () => {
  it('gets a stop command when it has started', async () => {
    const run = granted();
    const createAndCancel: RunStorage['create'] = async (request) => {
      const created = await runStorage(db).create(request);
      const how = { action: 'interrupt', reason: 'a test', access: everyRow } as const;
      await runStorage(db).cancel(request.thread_id ?? '', [request.run_id], how);
      return created;
    };
    await serviceWith(createAndCancel).create(randomUUID(), run);
    expect(startedMs).toHaveLength(1);
    expect(stopped).toEqual([run.grant.run_id]);
  });
});

describe('runs of a batch that a retry finds stored', () => {
  it('start except those that cannot be read, which are given back', async () => {
    const batch = [granted(), granted(), granted()];
    const [first, second, third] = batch.map(({ grant }) => grant.run_id);
    const runs = runStorage(db);
    const createAndLose: RunStorage['createAll'] = async (rows) => {
      triedMs.push(performance.now());
      const created = await runs.createAll(rows);
      if (triedMs.length === 1) throw new Problem('unavailable', 'The connection broke');
      return created;
    };
    const findSome: RunStorage['find'] = async (run_id, ...args) => {
      if (run_id === second) throw new Problem('unavailable', 'The connection broke');
      return runs.find(run_id, ...args);
    };
    const service = serviceWith(undefined, { createAll: createAndLose, find: findSome });
    await expect(service.createAll(batch)).rejects.toMatchObject({ code: 'unavailable' });
    expect(startedRuns).toEqual([first, third]);
    expect(givenBack).toEqual([second]);
  });
});

describe('a run whose creation fails', () => {
  const lost = (): never => {
    throw new Problem('unavailable', 'The connection broke');
  };

  it('is given back when a retry cannot read it', async () => {
    const run = granted();
    const service = serviceWith((row) => runStorage(db).create(row), { find: lost });
    await expect(service.create(randomUUID(), run)).rejects.toMatchObject({ code: 'unavailable' });
    expect(givenBack).toEqual([run.grant.run_id]);
  });

  it('is not given back when it was refused, or when another request may have created it', async () => {
    const refused = granted();
    refused.grant.assistant_id = randomUUID();
    await expect(serviceWith(undefined).create(randomUUID(), refused)).rejects.toMatchObject({
      code: 'not_found',
    });
    const keyed = granted();
    keyed.request.key = 'key';
    const service = serviceWith((row) => runStorage(db).create(row), { find: lost });
    triedMs = [];
    await expect(service.create(randomUUID(), keyed)).rejects.toMatchObject({ code: 'unavailable' });
    expect(givenBack).toEqual([]);
  });

  it('is claimed again after it was given back, unless another worker has claimed it', async () => {
    const [kept, taken] = [granted(), granted()];
    for (const run of [kept, taken]) await serviceWith(undefined).create(randomUUID(), run);
    const ids = [kept, taken].map(({ grant }) => grant.run_id);
    const text = 'update runs set worker_id = gen_random_uuid() where run_id = $1';
    await db.query({ name: 'take', text }, [taken.grant.run_id]);
    await createStorage(db).runLeases.releaseCreated(ids, dispatcher.worker_id, 'a test');
    const rows = await runStorage(db).states(ids);
    const statuses = ids.map((id) => rows.find(({ run_id }) => run_id === id)?.status);
    expect(statuses).toEqual(['pending', 'running']);
  });
});
