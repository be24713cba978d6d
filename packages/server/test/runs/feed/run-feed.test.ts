// The feed of run changes over a database without executors: what is read, and what a reader gets in unusual cases.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventWriter, StreamEvent } from '../../../src/api/handlers.ts';
import { AccessFilter } from '../../../src/auth/authorization/access-filter.ts';
import { RunFeed, type RunFeedOptions } from '../../../src/deployment/runs/feed/run-feed.ts';
import { createRun } from '../../../src/storage/deployment/run-creation.ts';
import { runLeaseStorage } from '../../../src/storage/deployment/run-leases.ts';
import { runStorage } from '../../../src/storage/deployment/runs.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { everyRow, type RowFilter } from '../../../src/storage/postgres/row-filter.ts';
import { Problem } from '@svc/contract/problem';
import { testDatabase, type TestDatabase } from '../../database.ts';
import { eventually } from '../../eventually.ts';
import { claimOf, newAssistant, newRun } from '../run-rows.ts';

let db: TestDatabase;
let assistant_id: string;
beforeAll(async () => {
  db = await testDatabase();
  assistant_id = await newAssistant(db);
});
afterAll(() => db[Symbol.asyncDispose]());

/** Statements so far, without those of the tests. */
const counted = () => {
  const names: string[] = [];
  let failure: Error | undefined;
  const database: Database = {
    ...db,
    query: (statement, values) => {
      names.push(statement.name);
      return failure ? Promise.reject(failure) : db.query(statement, values);
    },
  };
  return { names, database, failWith: (error: Error | undefined) => (failure = error) };
};

const startFeed = (database: Database = db, options: Partial<RunFeedOptions> = {}) => {
  const errors: unknown[] = [];
  const logger = { error: (...line: unknown[]) => void errors.push(line) };
  const feed = new RunFeed({ runs: runStorage(database), logger, everyMs: 20, ...options });
  return { feed, errors, [Symbol.asyncDispose]: () => feed.end() };
};

const read = (
  feed: RunFeed,
  {
    access = everyRow,
    lastEventId,
    search = {},
  }: { access?: RowFilter; lastEventId?: string | undefined; search?: object } = {},
) => {
  const events: StreamEvent[] = [];
  const slow: { isSlow: boolean; release: () => void } = { isSlow: false, release: () => undefined };
  let isEnded = false;
  const sink: EventWriter = {
    send: (event) => {
      events.push(event);
      return !slow.isSlow;
    },
    drained: () => new Promise((resolve) => (slow.release = resolve)),
    end: () => (isEnded = true),
    fail: (error) => events.push({ event: 'error', data: String(error) }),
  };
  const leave = feed.open({ search, access, select: undefined }, lastEventId, sink);
  const ids = () =>
    events.flatMap(({ event, data }) =>
      event === 'run' ? [(JSON.parse(data) as { run_id: string }).run_id] : [],
    );
  return {
    events,
    slow,
    leave,
    ids,
    isEnded: () => isEnded,
    lastId: () => events.findLast(({ id }) => id !== undefined)?.id,
    begun: () => eventually(() => expect(events.map(({ event }) => event)).toContain('position')),
  };
};

const deferred = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};

const create = async (metadata = {}): Promise<string> => {
  const run = { ...newRun(assistant_id, randomUUID()), metadata };
  await runStorage(db).create(run);
  return run.run_id;
};

describe('the feed', () => {
  it('reads nothing while it has no readers', async () => {
    const { names, database } = counted();
    await using started = startFeed(database);
    expect([names, started.feed.isReading]).toEqual([[], false]);
    const reader = read(started.feed);
    await reader.begun();
    reader.leave();
    expect(started.feed.isReading).toBe(false);
    await create();
    const other = startFeed();
    const later = read(other.feed);
    await later.begun();
    const count = names.length;
    later.leave();
    expect(names).toHaveLength(count);
  });

  it('reads changed runs once for all readers with the same filter', async () => {
    const { names, database } = counted();
    await using started = startFeed(database);
    const readers = Array.from({ length: 20 }, () => read(started.feed));
    for (const reader of readers) await reader.begun();
    const before = names.filter((name) => name !== 'runs_changed').length;
    const id = await create();
    for (const reader of readers) await eventually(() => expect(reader.ids()).toEqual([id]));
    expect(names.filter((name) => name !== 'runs_changed').length - before).toBe(1);
  });

  it('keeps the streams through an outage, and sends what has changed meanwhile', async () => {
    const { database, failWith } = counted();
    await using started = startFeed(database);
    const reader = read(started.feed);
    await reader.begun();
    failWith(new Problem('unavailable', 'The database is unavailable.'));
    await eventually(() => expect(started.errors.length).toBeGreaterThan(1));
    const ids = [await create(), await create()];
    failWith(undefined);
    await eventually(() => expect(reader.ids()).toEqual(ids));
    expect(reader.isEnded()).toBe(false);
  });

  it('sends nothing to a slow reader until it has read everything, and nothing twice', async () => {
    await using started = startFeed();
    const slow = read(started.feed);
    const fast = read(started.feed);
    await Promise.all([slow.begun(), fast.begun()]);
    slow.slow.isSlow = true;
    const ids = [await create()];
    await eventually(() => expect(slow.ids()).toEqual(ids));
    for (let count = 0; count < 5; count++) ids.push(await create());
    await eventually(() => expect(fast.ids()).toEqual(ids));
    expect(slow.ids()).toHaveLength(1);
    slow.slow.isSlow = false;
    slow.slow.release();
    await eventually(() => expect(slow.ids()).toEqual(ids));
    ids.push(await create());
    await eventually(() => expect(slow.ids()).toEqual(ids));
  });

  it('sends a change that is committed behind later ones', async () => {
    await using started = startFeed();
    const reader = read(started.feed);
    await reader.begun();
    const early = newRun(assistant_id, randomUUID());
    const committed = deferred();
    const begun = deferred();
    const slow = db.transact(async (tx) => {
      await createRun(tx, early);
      begun.resolve();
      await committed.promise;
    });
    await begun.promise;
    const late = await create();
    await eventually(() => expect(reader.ids()).toEqual([late]));
    committed.resolve();
    await slow;
    await eventually(() => expect(reader.ids()).toEqual([late, early.run_id]));
  });

  it('sends a restricted reader its own runs only, whatever happens to others', async () => {
    await using started = startFeed();
    const own = read(started.feed, { access: AccessFilter.parse({ owner: 'ann' }) });
    const all = read(started.feed);
    await Promise.all([own.begun(), all.begun()]);
    const foreign = await create({ owner: 'ben' });
    const mine = await create({ owner: 'ann' });
    await eventually(() => expect(all.ids()).toEqual([foreign, mine]));
    await eventually(() => expect(own.ids()).toEqual([mine]));
    expect(JSON.stringify(own.events)).not.toContain(foreign);
    const resumed = read(started.feed, {
      access: AccessFilter.parse({ owner: 'ann' }),
      lastEventId: own.events[0]?.id,
    });
    await eventually(() => expect(resumed.ids()).toEqual([mine]));
  });

  it('repeats a position, whose id depends on nothing but the time and what was sent', async () => {
    await using started = startFeed(db, { positionMs: 50 });
    const own = read(started.feed, { access: AccessFilter.parse({ owner: 'nobody' }) });
    await own.begun();
    await create({ owner: 'ben' });
    const positions = () =>
      own.events.map(({ event, id = '' }) => {
        const { t: _, ...rest } = JSON.parse(Buffer.from(id, 'base64url').toString()) as Record<
          string,
          unknown
        >;
        return { event, ...rest };
      });
    await eventually(() => expect(own.events.length).toBeGreaterThan(3));
    expect(new Set(positions().map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ event: 'position', v: 1, id: '' })]),
    );
  });

  it('ends a reader whose filter the database refuses, and no other', async () => {
    await using started = startFeed();
    const broken = read(started.feed, { search: { thread_id: 'no id' } });
    const other = read(started.feed);
    await other.begun();
    const id = await create();
    await eventually(() => expect(other.ids()).toEqual([id]));
    await eventually(() => expect(broken.events.at(-1)?.event).toBe('error'));
  });

  it('sends a run that is claimed, given back and claimed again', async () => {
    await using started = startFeed();
    const reader = read(started.feed);
    await reader.begun();
    const statuses = () =>
      reader.events.flatMap(({ event, data }) => {
        const { status, attempt } = JSON.parse(data) as { status: string; attempt: number };
        return event === 'run' ? [`${status} ${attempt}`] : [];
      });
    const lonely = await newAssistant(db, 'lonely');
    const run = { ...newRun(lonely, randomUUID()), claim: true, graphs: ['lonely'] };
    await runStorage(db).create(run);
    await eventually(() => expect(statuses()).toEqual(['running 1']));
    const lost = { charge: true, lost: true, reason: 'a test' };
    await runLeaseStorage(db).release([{ id: run.run_id, lease_token: 1 }], lost);
    await eventually(() => expect(statuses()).toEqual(['running 1', 'pending 1']));
    await runLeaseStorage(db).claim(claimOf(10, { graphs: ['lonely'] }));
    await eventually(() => expect(statuses()).toEqual(['running 1', 'pending 1', 'running 2']));
  });
});
