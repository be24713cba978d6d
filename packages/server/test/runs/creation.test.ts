// Runs that are created at the same time are created by one statement, with the same results as alone.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import {
  createRun,
  createRuns,
  groupedCreation,
  type TimedRun,
} from '../../src/storage/deployment/runs/run-creation.ts';
import type { NewRun } from '../../src/storage/deployment/runs/run-rows.ts';
import { runStorage } from '../../src/storage/deployment/runs/runs.ts';
import { threadStorage } from '../../src/storage/deployment/threads/threads.ts';
import { everyRow } from '../../src/storage/postgres/row-filter.ts';
import { createStorage } from '../../src/storage/storage.ts';
import { testDatabase } from '../database.ts';
import { fixture } from '../fixture.ts';
import { untilOneWaits } from '../lock-waiters.ts';
import { newAssistant, newRun } from './run-rows.ts';

const db = fixture(() => testDatabase());
const storage = fixture(() => createStorage(db));

let assistant_id: string;

beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

const createAll = (runs: NewRun[]): Promise<TimedRun[]> => {
  const creation = groupedCreation(db);
  return Promise.all(runs.map((run) => creation.write(run)));
};

const outcomesOf = (runs: { outcome: string }[]): string[] => runs.map(({ outcome }) => outcome);

const onThreads = (count: number): NewRun[] =>
  Array.from({ length: count }, () => newRun(assistant_id, randomUUID()));

describe('runs that are created at the same time', () => {
  it('are stored by few transactions', async () => {
    const runs = onThreads(40);
    expect(outcomesOf(await createAll(runs))).toEqual(runs.map(() => 'created'));
    const text =
      'select count(distinct xmin::text)::integer as count from runs where run_id = any ($1::uuid[])';
    const ids = runs.map(({ run_id }) => run_id);
    const [row] = await db.query<{ count: number }>({ text }, [ids]);
    expect(row?.count).toBeLessThan(20);
  });

  it('take turns on one thread: with the strategy reject, one is created', async () => {
    const thread_id = randomUUID();
    const runs = Array.from({ length: 12 }, () => ({
      ...newRun(assistant_id, thread_id),
      multitask_strategy: 'reject',
    }));
    const outcomes = outcomesOf(await createAll(runs));
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 11 }, () => 'busy'), 'created']);
  });

  it('fail alone when one cannot be stored', async () => {
    const runs = onThreads(10).map((run, at) => (at === 6 ? { ...run, metadata: { text: '\u0000' } } : run));
    const creation = groupedCreation(db);
    const results = await Promise.allSettled(runs.map((run) => creation.write(run)));
    expect(results.map(({ status }) => status)).toEqual(
      runs.map((_, at) => (at === 6 ? 'rejected' : 'fulfilled')),
    );
  });

  it('do not wait for one whose thread is locked', async () => {
    const locked = randomUUID();
    await storage.threads.create({ thread_id: locked, metadata: {}, config: {} });
    // The first two leave alone.
    const runs = [...onThreads(2), newRun(assistant_id, locked), ...onThreads(3)];
    const creation = groupedCreation(db);
    let waiting: Promise<TimedRun> | undefined;
    await db.transact(async (tx) => {
      const text = 'select 1 from threads where thread_id = $1 for update';
      await tx.query({ text }, [locked]);
      const created = runs.map((run) => creation.write(run));
      waiting = created[2];
      const others = created.filter((_, at) => at !== 2);
      expect(outcomesOf(await Promise.all(others))).toEqual(others.map(() => 'created'));
      await untilOneWaits(db);
    });
    expect(await waiting).toMatchObject({ outcome: 'created' });
  });

  it('do not wait for one whose key is used by another request', async () => {
    const [one, keyed] = [newRun(assistant_id, randomUUID()), newRun(assistant_id, randomUUID())];
    let last: TimedRun | Promise<TimedRun> | undefined;
    await db.transact(async (tx) => {
      await createRun(tx, { ...keyed, thread_id: null });
      const [first, second] = await createRuns(db, [one, keyed]);
      expect(await first).toMatchObject({ outcome: 'created' });
      last = second;
      await untilOneWaits(db);
    });
    expect(await last).toMatchObject({ outcome: 'exists' });
  });

  it('do not wait for one that ends queued runs of its thread', async () => {
    const thread_id = randomUUID();
    const queued = newRun(assistant_id, thread_id);
    await createRun(db, queued);
    const ending = { ...newRun(assistant_id, thread_id), multitask_strategy: 'interrupt' };
    let last: TimedRun | Promise<TimedRun> | undefined;
    await db.transact(async (tx) => {
      await tx.query({ text: 'select 1 from runs where run_id = $1 for update' }, [queued.run_id]);
      const [first, second] = await createRuns(db, [...onThreads(1), ending]);
      expect(await first).toMatchObject({ outcome: 'created' });
      last = second;
      await untilOneWaits(db);
    });
    expect(await last).toMatchObject({ outcome: 'created' });
    expect(await storage.runs.find(queued.run_id, thread_id, AccessFilter.parse({}))).toMatchObject({
      status: 'interrupted',
    });
  });
});

describe('a run that is created together with others', () => {
  let served: string;
  beforeEach(async () => {
    served = await newAssistant(db, 'other');
  });

  it('has the outcome and the row that it has alone', async () => {
    const threads = {
      none: () => Promise.resolve(null),
      new: () => Promise.resolve(randomUUID()),
      idle: async () => {
        const thread_id = randomUUID();
        await storage.threads.create({ thread_id, metadata: { team: 'a' }, config: { a: 1 } });
        return thread_id;
      },
      busy: async () => {
        const thread_id = randomUUID();
        await createRun(db, newRun(assistant_id, thread_id));
        return thread_id;
      },
    };
    const access = fc
      .constantFrom({}, { team: 'a' }, { team: 'b' })
      .map((filter) => AccessFilter.parse(filter));
    const kind = fc.record({
      thread: fc.constantFrom(...(Object.keys(threads) as (keyof typeof threads)[])),
      assistant: fc.constantFrom('agent', 'other', 'missing'),
      run: fc.record({
        metadata: fc.constantFrom({}, { team: 'a', text: 'é\u2028"\\' }),
        kwargs: fc.constantFrom('{}', '{"input": {"text": "\\u0000 é\\n"}}'),
        multitask_strategy: fc.constantFrom('enqueue', 'reject', 'interrupt', 'rollback'),
        create_thread: fc.boolean(),
        claim: fc.boolean(),
        delayMs: fc.constantFrom(0, 60_000),
        log: fc.constantFrom('nothing' as const, 'events' as const),
        resumable: fc.boolean(),
        webhook: fc.constantFrom(null, 'http://127.0.0.1/"\\'),
        keyed: fc.boolean(),
        sealed_user: fc.constantFrom(null, 'sealed "user"'),
        graphs: fc.constantFrom(null, [], ['agent'], ['agent', 'other']),
        access,
        assistantAccess: access,
      }),
    });
    const assistants = { agent: assistant_id, other: served, missing: randomUUID() };
    const columns = `status, metadata, kwargs, multitask_strategy, temporary, log, webhook, attempt, lease_token,
      lease_until is null as free, graph_id, waits_for, found_status, not_before > created_at as delayed, owner_hash`;
    const shown = async (run: NewRun, outcome: TimedRun): Promise<object> => {
      const { sinceMs: _, ...rest } = outcome;
      const text = `select ${columns}, (select sealed from run_users u where u.run_id = r.run_id) as sealed from runs r where run_id = $1`;
      const [row] = await db.query<object>({ text }, [run.run_id]);
      const masked = JSON.stringify({ ...rest, created_at: undefined, row }).replaceAll(
        /[0-9a-f]{8}-[0-9a-f-]{27}/g,
        (id) => (Object.values(assistants).includes(id) ? id : 'id'),
      );
      return JSON.parse(masked) as object;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(kind, { minLength: 1, maxLength: 8 }), async (kinds) => {
        await db.script('delete from runs');
        const runs = async (): Promise<NewRun[]> =>
          Promise.all(
            kinds.map(async ({ thread, assistant, run }) => ({
              ...newRun(assistants[assistant], await threads[thread]()),
              ...run,
            })),
          );
        // A run that stops runs of its thread is created after the group, where other runs may wait for a slot.
        const stops = ({ multitask_strategy: strategy }: NewRun, at: number): boolean =>
          kinds[at]?.thread === 'busy' && ['interrupt', 'rollback'].includes(strategy);
        const alone: object[] = [];
        const first = await runs();
        for (const isLater of [false, true])
          for (const [at, run] of first.entries())
            if (stops(run, at) === isLater) alone[at] = await shown(run, await createRun(db, run));
        await db.script('delete from runs');
        const together = await runs();
        const created = await createRuns(db, together);
        const grouped = await Promise.all(
          together.map(async (run, at) => shown(run, await (created[at] as TimedRun | Promise<TimedRun>))),
        );
        expect(grouped).toEqual(alone);
      }),
      { numRuns: 60 },
    );
  });
});

// Runs that create their thread while others create or delete it.

describe('a run with a thread that it may create', () => {
  it('uses the thread that another transaction deleted and created again meanwhile', async () => {
    const thread_id = randomUUID();
    await threadStorage(db).create({ thread_id, metadata: {}, config: {} });
    let second: Promise<{ outcome: string }> | undefined;
    await db.transact(async (tx) => {
      await threadStorage(tx).delete(thread_id, everyRow);
      expect(await runStorage(tx).create(newRun(assistant_id, thread_id))).toMatchObject({
        outcome: 'created',
      });
      second = runStorage(db).create(newRun(assistant_id, thread_id));
      await untilOneWaits(db);
    });
    expect(await second).toMatchObject({ outcome: 'created', thread_id });
    expect(await runStorage(db).listInFlight(thread_id)).toHaveLength(2);
  });

  it('is created once by concurrent requests with the same id', async () => {
    for (let round = 0; round < 100; round++) {
      const run = newRun(assistant_id, randomUUID());
      const made = await Promise.all(Array.from({ length: 8 }, () => runStorage(db).create(run)));
      const outcomes = made.map(({ outcome }) => outcome).toSorted();
      expect(outcomes).toEqual(['created', ...Array.from({ length: 7 }, () => 'exists')]);
    }
  });

  it('is created while others delete the thread', async () => {
    for (let round = 0; round < 100; round++) {
      const thread_id = randomUUID();
      const actions = Array.from({ length: 12 }, (_, index) =>
        index % 3 === 2
          ? threadStorage(db).delete(thread_id, everyRow)
          : runStorage(db)
              .create(newRun(assistant_id, thread_id))
              .then(({ outcome }) => outcome),
      );
      for (const done of await Promise.all(actions)) expect([true, false, 'created']).toContain(done);
    }
  });
});

// One run, requested more than once: with a client's key, or again because the first response was lost.

/** Creates `other` while the transaction that creates `first` is open; returns both results. */
const createWhile = async (first: NewRun, other: NewRun) => {
  let second: Promise<{ outcome: string }> | undefined;
  const made = await db.transact(async (tx) => {
    const created = await runStorage(tx).create(first);
    second = runStorage(db).create(other);
    second.catch(() => undefined); // awaited below
    await untilOneWaits(db);
    return created;
  });
  expect(made).toMatchObject({ outcome: 'created' });
  return { made: made as { thread_id: string }, second: await second };
};

const threadExists = async (thread_id: string | null): Promise<boolean> =>
  (await threadStorage(db).find(thread_id ?? '', everyRow)) !== undefined;

describe('a stateless run', () => {
  it('is found by a request with its key while it is being created', async () => {
    const run = newRun(assistant_id, null);
    const { made, second } = await createWhile(run, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });

  it('is found by a retry while the first try is still in its transaction', async () => {
    const run = newRun(assistant_id, null);
    const { made, second } = await createWhile({ ...run, keyed: false }, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: made.thread_id });
  });
});

describe('a run that creates its thread', () => {
  /** The same request with a new thread id, as every try generates one. */
  const requestedAgain = (run: NewRun): NewRun => ({ ...run, thread_id: randomUUID() });

  it('is found by a request with its key while it is being created, and no second thread is created', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = requestedAgain(run);
    const { second } = await createWhile(run, again);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect([await threadExists(run.thread_id), await threadExists(again.thread_id)]).toEqual([true, false]);
  });

  it('is found by a later request with its key, and no second thread is created', async () => {
    const run = newRun(assistant_id, randomUUID());
    const again = requestedAgain(run);
    await runStorage(db).create(run);
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
    expect(await threadExists(again.thread_id)).toBe(false);
  });

  it('is found by a retry while the first try is still in its transaction', async () => {
    const run = newRun(assistant_id, randomUUID());
    const { second } = await createWhile({ ...run, keyed: false }, run);
    expect(second).toMatchObject({ outcome: 'exists', thread_id: run.thread_id });
  });
});

describe('a run on a thread', () => {
  const bobOnly = { jsonpath: '$.owner == "bob"', isEverything: false };

  it('is not found by a caller that may not read its thread, even with its key', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    expect(await runStorage(db).create({ ...run, access: bobOnly })).toMatchObject({ outcome: 'no_thread' });
  });

  it('is not created outside of what its caller may access, even with a known key', async () => {
    const run = newRun(assistant_id, randomUUID());
    await runStorage(db).create(run);
    const again = { ...run, thread_id: randomUUID(), access: bobOnly };
    expect(await runStorage(db).create(again)).toMatchObject({ outcome: 'outside' });
  });
});
