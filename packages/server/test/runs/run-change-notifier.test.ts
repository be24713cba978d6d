// Notifications of changed runs, over a database without executors.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { EventStreamResponse, type EventWriter } from '../../src/api/handlers.ts';
import { AccessFilter } from '../../src/auth/authorization/access-filter.ts';
import { RunChangeNotifier } from '../../src/deployment/runs/run-change-notifier.ts';
import { createRun } from '../../src/storage/deployment/runs/run-creation.ts';
import { runStorage, statements } from '../../src/storage/deployment/runs/runs.ts';
import { runLeaseStorage } from '../../src/storage/deployment/runs/run-leases.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { everyRow, type RowFilter } from '../../src/storage/postgres/row-filter.ts';
import { Problem } from '@svc/contract/problem';
import { testDatabase } from '../database.ts';
import { eventually } from '../eventually.ts';
import { claimOf, newAssistant, newRun } from './run-rows.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
let assistant_id: string;
beforeAll(async () => {
  assistant_id = await newAssistant(db);
});

/** The time of a notifier moves only when the test calls `next`, from one read to the end of the next one. */
const startNotifier = () => {
  const statements: string[] = [];
  const pauses: number[] = [];
  let failure: Error | undefined;
  let resume = (): void => undefined;
  const database: Database = {
    ...db,
    query: (statement, values) => {
      statements.push(statement.text);
      return failure ? Promise.reject(failure) : db.query(statement, values);
    },
  };
  const notifier = new RunChangeNotifier({
    runs: runStorage(database),
    logger: { error: () => undefined },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        resume = resolve;
        signal?.addEventListener('abort', () => resolve());
        pauses.push(ms);
      }),
  });
  const read = async (): Promise<void> => {
    const count = pauses.length;
    resume();
    await eventually(() => expect(pauses.length).toBeGreaterThan(count));
  };
  return {
    notifier,
    statements,
    pauses,
    next: read,
    resume: () => resume(),
    failWith: (error: Error | undefined) => (failure = error),
    [Symbol.asyncDispose]: () => notifier.end(),
  };
};

type Started = ReturnType<typeof startNotifier>;

const open = ({ notifier }: Pick<Started, 'notifier'>, access: RowFilter = everyRow) => {
  const events: (string[] | string)[] = [];
  const slow = { isSlow: false, release: (): void => undefined };
  const sink: EventWriter = {
    send: ({ data }) => {
      events.push((JSON.parse(data) as { thread_ids?: string[] }).thread_ids?.toSorted() ?? 'any');
      return !slow.isSlow;
    },
    drained: () => new Promise((resolve) => (slow.release = resolve)),
    end: () => events.push('end'),
    fail: (error) => events.push(String(error)),
  };
  const response = new EventStreamResponse((to, stop) => notifier.read(access, to, stop));
  const leave = response.start(sink);
  return { events, slow, leave, begun: () => eventually(() => expect(events).toEqual(['any'])) };
};

/** Creates a run, and returns the id of its thread. */
const create = async (metadata = {}): Promise<string> => {
  const thread_id = randomUUID();
  await runStorage(db).create({ ...newRun(assistant_id, thread_id), metadata });
  return thread_id;
};

describe('notifications of changed runs', () => {
  it('are at most one in a second, with the threads of all changes in it', async () => {
    await using started = startNotifier();
    const { events, begun } = open(started);
    await begun();
    const threads = [await create(), await create(), await create()].toSorted();
    expect(events).toEqual(['any']);
    await started.next();
    expect(events).toEqual(['any', threads]);
    await started.next();
    expect(events).toEqual(['any', threads]);
    expect(new Set(started.pauses)).toEqual(new Set([1_000]));
  });

  it('of more than a hundred threads name none', async () => {
    await using started = startNotifier();
    const { events, begun } = open(started);
    await begun();
    await Promise.all(Array.from({ length: 101 }, () => create()));
    await started.next();
    expect(events).toEqual(['any', 'any']);
  });

  it('are sent when a run is claimed, given back and claimed again', async () => {
    await using started = startNotifier();
    const { events, begun } = open(started);
    const graph_id = 'lonely';
    const run = {
      ...newRun(await newAssistant(db, graph_id), randomUUID()),
      claim: true,
      graphs: [graph_id],
    };
    await begun();
    await runStorage(db).create(run);
    await started.next();
    const lost = { charge: true, lost: true, reason: 'a test' };
    await runLeaseStorage(db).release([{ id: run.run_id, lease_token: 1 }], lost);
    await started.next();
    await runLeaseStorage(db).claim(claimOf(1, { graphs: [graph_id] }));
    await started.next();
    expect(events).toEqual(['any', ...Array.from({ length: 3 }, () => [run.thread_id])]);
  });

  it('are sent for a change that is committed behind later ones', async () => {
    await using started = startNotifier();
    const { events, begun } = open(started);
    await begun();
    const early = newRun(assistant_id, randomUUID());
    const late = await db.transact(async (tx) => {
      await createRun(tx, early);
      const thread = await create();
      await started.next();
      return thread;
    });
    await started.next();
    expect(events).toEqual(['any', [late], [early.thread_id]]);
  });

  it('are not sent to a reader that may not read the thread', async () => {
    await using started = startNotifier();
    const own = open(started, AccessFilter.parse({ owner: 'ann' }));
    const all = open(started);
    await all.begun();
    const foreign = await create({ owner: 'ben' });
    await started.next();
    const mine = await create({ owner: 'ann' });
    await started.next();
    expect(all.events).toEqual(['any', [foreign], [mine]]);
    expect(own.events).toEqual(['any', [mine]]);
  });

  it('need one filter of changed runs for all readers with the same rights', async () => {
    await using started = startNotifier();
    const readers = Array.from({ length: 20 }, () => open(started));
    for (const { begun } of readers) await begun();
    const thread = await create();
    const before = started.statements.length;
    await started.next();
    for (const { events } of readers) expect(events).toEqual(['any', [thread]]);
    expect(started.statements.length - before).toBe(2);
  });

  it('read nothing while there are no readers', async () => {
    await using started = startNotifier();
    expect(started.statements).toEqual([]);
    const { begun, leave } = open(started);
    await begun();
    await eventually(() => expect(started.pauses).toEqual([1_000]));
    leave();
    started.resume();
    const again = open(started);
    await again.begun();
    expect(started.statements).toEqual([statements.changed.text, statements.changed.text]);
  });

  it('are sent to a later reader although an earlier one had left before it was read', async () => {
    await using started = startNotifier();
    const sink = { send: () => true, drained: () => Promise.resolve() };
    await started.notifier.read(everyRow, sink, AbortSignal.abort());
    await open(started).begun();
  });

  it('name no thread after an outage of the database', async () => {
    await using started = startNotifier();
    const { events, begun } = open(started);
    await begun();
    started.failWith(new Problem('unavailable', 'The database is unavailable.'));
    await create();
    const before = started.statements.length;
    started.resume();
    await eventually(() => expect(started.statements.length).toBeGreaterThan(before + 1));
    expect(events).toEqual(['any']);
    started.failWith(undefined);
    await eventually(() => expect(events).toEqual(['any', 'any']));
  });

  it('are kept from a slow reader until it has read everything', async () => {
    await using started = startNotifier();
    const { events, slow, begun } = open(started);
    await begun();
    slow.isSlow = true;
    const first = await create();
    await started.next();
    await create();
    await started.next();
    expect(events).toEqual(['any', [first]]);
    slow.isSlow = false;
    slow.release();
    await started.next();
    expect(events).toEqual(['any', [first], 'any']);
  });

  it('end for a reader whose filter the database refuses, and for no other', async () => {
    await using started = startNotifier();
    const broken = open(started, { jsonpath: 'no jsonpath (', isEverything: false });
    const other = open(started);
    await other.begun();
    const thread = await create();
    await started.next();
    expect(other.events).toEqual(['any', [thread]]);
    expect(broken.events).toEqual(['any', expect.stringContaining('jsonpath')]);
  });
});

it('changed runs are found by indexes among 30,000, the newest 2,000', async () => {
  await using many = await testDatabase();
  const text = `insert into runs (run_id, thread_id, assistant_id, status, kwargs, lease_token, created_at, updated_at)
    select md5('r' || n)::uuid, md5('t' || n)::uuid, md5('a')::uuid,
      case when n % 10 = 0 then 'pending' when n % 200 = 1 then 'running' else 'success' end, '{}', (n % 10 <> 0)::integer, at, at
    from (select n, now() + interval '1 min' - n * interval '0.02 s' as at from generate_series(1, 30000) n) s`;
  await many.query({ name: 'seed', text }, []);
  await many.query({ name: 'analyze_runs', text: 'analyze runs' }, []);
  const plans: string[] = [];
  const explaining: Database = {
    ...many,
    query: async (statement, values) => {
      const explained = { text: `explain ${statement.text}` };
      for (const line of await many.query<{ 'QUERY PLAN': string }>(explained, values))
        plans.push(line['QUERY PLAN']);
      return many.query(statement, values);
    },
  };
  const changed = await runStorage(explaining).listChanged();
  expect(changed).toHaveLength(2_000);
  expect(plans.join('\n')).toContain('runs_settled');
  expect(plans.join('\n')).not.toContain('Seq Scan on runs');
});
