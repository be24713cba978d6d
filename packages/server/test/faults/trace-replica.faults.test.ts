// Lists and sums of traces that are read from a hot standby.
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { untilAborted } from '../../src/abort.ts';
import { openReplica, type Replica } from '../../src/storage/replica/open-replica.ts';
import type { FallbackReason } from '../../src/storage/replica/fallback.ts';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { asTenant } from '../../src/storage/postgres/tenant.ts';
import { isTimeLimit } from '../../src/storage/postgres/sql-state.ts';
import { traceStorage, type TraceStorage } from '../../src/storage/tracing/traces.ts';
import { newPlace, type Place } from '../exports/export-tables.ts';
import { addRuns } from '../exports/stored-runs.ts';
import { eventually } from '../eventually.ts';
import { execute, startReplicaPair } from './replica-pair.ts';
import { openProxy } from './tcp-proxy.ts';
import { fixture } from '../fixture.ts';

const lagMaxMs = 2_000;
const day = '2026-03-01T00:00:00Z';

const pair = fixture(() => startReplicaPair());
afterEach(async () => {
  await pair.standby.start();
  await pair.resumeReplay();
});

/** Opens a replica as a server does, and waits until it is reachable. */
const open = async (uri = pair.uriOf(), lag = lagMaxMs): Promise<Replica> => {
  const replica = openReplica({ uri, primary: pair.db, poolMax: 4, lagMaxMs: lag });
  await eventually(() => expect(replica.state).toMatchObject({ is_reachable: true }));
  await eventually(async () => expect(await isOnStandby(replica)).toBe(true));
  return replica;
};

const isOnStandby = async ({ traceReads }: Replica): Promise<boolean> => {
  const rows = await traceReads.transact((tx) =>
    tx.query<{ is_standby: boolean }>({ text: 'select pg_is_in_recovery() as is_standby' }, []),
  );
  return rows[0]?.is_standby === true;
};

const fallbacks = ({ tally }: Replica, reason: FallbackReason): number =>
  tally.fallbacks.get('traces')?.get(reason) ?? 0;

const tracesOf = ({ traceReads }: Replica): TraceStorage => traceStorage(pair.db, undefined, traceReads);

const scopeOf = ({ tenant_id, session_id }: Place) => ({
  tenant_id,
  session_ids: [session_id],
  trace_id: null,
  is_root: null,
  since: null,
  until: null,
  filter: null,
  trace_filter: null,
  tree_filter: null,
});

const countOf = async (traces: TraceStorage, place: Place): Promise<number> =>
  (await traces.sum(scopeOf(place))).run_count;

const listOf = async (traces: TraceStorage, place: Place): Promise<string[]> => {
  const filter = { ...scopeOf(place), columns: null, order: 'desc' as const, after: null, limit: 100 };
  const { rows } = await traces.search(filter, { budgetMs: 5_000 });
  return rows.map(({ id }) => id);
};

/** A workspace with this number of trace runs, which the standby has. */
const replicated = async (count: number): Promise<{ place: Place; ids: string[] }> => {
  const place = await newPlace(pair.db);
  const ids = await addRuns(pair.db, place, { start: day, count });
  await pair.caughtUp();
  return { place, ids };
};

describe('a replica that keeps up', () => {
  it('is read for lists and sums of traces', async () => {
    const { place, ids } = await replicated(3);
    await using replica = await open();
    const before = replica.tally.reads.get('traces') ?? 0;
    const traces = tracesOf(replica);
    expect((await listOf(traces, place)).toSorted()).toEqual(ids.toSorted());
    expect(await countOf(traces, place)).toBe(3);
    // Days, a page of the list, the sums by hour, and the exact sums.
    expect(replica.tally.reads.get('traces')).toBe(before + 4);
    expect(replica.state.lag_seconds).toBeLessThan(lagMaxMs / 1_000);
  });

  it('hides the rows of other workspaces by row level security, as the role svc_tenant in a read-only transaction', async () => {
    const [mine, other] = [await replicated(2), await replicated(5)];
    await using replica = await open();
    const [row] = await asTenant(replica.traceReads, mine.place.tenant_id, (tx) =>
      tx.query<object>(
        {
          name: '',
          text: `select current_user::text as role, pg_is_in_recovery() as is_standby,
            current_setting('transaction_read_only') as read_only,
            (select count(*) from trace_runs) as visible, (select count(*) from trace_runs where tenant_id = $1) as foreign_rows`,
        },
        [other.place.tenant_id],
      ),
    );
    expect(row).toEqual({
      role: 'svc_tenant',
      is_standby: true,
      read_only: 'on',
      visible: 2,
      foreign_rows: 0,
    });
    const [primary] = await pair.db.query<{ total: number }>(
      { text: 'select count(*) as total from trace_runs' },
      [],
    );
    expect(primary?.total).toBeGreaterThanOrEqual(7);
  });

  it('is read while the primary writes nothing for longer than the limit', async () => {
    await using replica = await open();
    const untilMs = performance.now() + lagMaxMs * 1.5;
    await eventually(async () => {
      expect(await isOnStandby(replica)).toBe(true);
      expect(performance.now()).toBeGreaterThan(untilMs);
    });
    expect(fallbacks(replica, 'lag')).toBe(0);
  });

  it('reports the time limit of a statement to its caller instead of using the primary', async () => {
    const { place } = await replicated(1);
    await using replica = await open();
    const slow = asTenant(
      replica.traceReads,
      place.tenant_id,
      (tx) => tx.query({ text: 'select pg_sleep(30)' }, []),
      { statementMs: 50 },
    );
    expect(await slow.catch(isTimeLimit)).toBe(true);
    expect(await isOnStandby(replica)).toBe(true);
  });
});

describe('a replica whose replay is paused', () => {
  it('is read until its data is older than the limit, and again after it has caught up', async () => {
    const { place } = await replicated(1);
    await using replica = await open();
    const traces = tracesOf(replica);
    const lagging = fallbacks(replica, 'lag');
    await pair.pauseReplay();
    await addRuns(pair.db, place, { start: day, count: 1 });
    const writtenMs = performance.now();
    // An answer without the new trace run is at most as old as the limit.
    const seenMs = await eventually(async () => {
      const askedMs = performance.now();
      expect(await countOf(traces, place)).toBe(2);
      return askedMs;
    });
    expect(seenMs - writtenMs).toBeLessThan(lagMaxMs + 1_000);
    expect(fallbacks(replica, 'lag')).toBeGreaterThan(lagging);
    expect(replica.state.lag_bytes).toBeGreaterThan(0);
    await pair.resumeReplay();
    await eventually(async () => expect(await isOnStandby(replica)).toBe(true));
    expect(await countOf(traces, place)).toBe(2);
  });
});

describe('a replica that fails', () => {
  it('by a crash fails no read, and is read again after its restart', async () => {
    const { place, ids } = await replicated(4);
    await using replica = await open();
    const traces = tracesOf(replica);
    const over = new AbortController();
    const readers = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) expect((await listOf(traces, place)).toSorted()).toEqual(ids.toSorted());
      }),
    );
    try {
      await pair.standby.stop('immediate');
      await eventually(() => {
        expect(fallbacks(replica, 'unreachable')).toBeGreaterThan(20);
        expect(replica.state.is_reachable).toBe(false);
      });
      await pair.standby.start();
      const read = replica.tally.reads.get('traces') ?? 0;
      await eventually(() => expect(replica.tally.reads.get('traces')).toBeGreaterThan(read + 20));
    } finally {
      over.abort();
      await readers;
    }
  });

  it('by not answering delays a read by seconds at most, also one that has begun', async () => {
    const { place } = await replicated(4);
    await using proxy = await openProxy({ host: '127.0.0.1', port: pair.standby.port });
    await using replica = await open(pair.uriOf(proxy.port));
    const begun = replica.traceReads.transact((tx) =>
      tx.query(
        {
          name: '',
          text: `select case when pg_is_in_recovery() then pg_sleep(60) end, pg_is_in_recovery() as on_standby`,
        },
        [],
      ),
    );
    await eventually(async () => {
      const active = await pair.onStandby(`select from pg_stat_activity where wait_event = 'PgSleep'`);
      expect(active).toHaveLength(1);
    });
    proxy.blackhole();
    const startedMs = performance.now();
    expect(await countOf(tracesOf(replica), place)).toBe(4);
    expect(await begun).toMatchObject([{ on_standby: false }]);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    proxy.pass();
    await eventually(async () => expect(await isOnStandby(replica)).toBe(true));
  });

  it('by a conflict with what it replays has its read repeated on the primary', async () => {
    const { place } = await replicated(50);
    await pair.setStandby('max_standby_streaming_delay', '0');
    await using replica = await open(undefined, 60_000);
    const reading = replica.traceReads.transact((tx) =>
      tx.query<{ on_standby: boolean; count: number }>(
        {
          name: '',
          text: `select count(*) as count, pg_is_in_recovery() as on_standby,
            (select case when pg_is_in_recovery() then pg_sleep(60) end) is null as slept from trace_runs where tenant_id = $1`,
        },
        [place.tenant_id],
      ),
    );
    await eventually(async () => {
      const active = await pair.onStandby(
        `select from pg_stat_activity where wait_event = 'PgSleep' and query like '%as slept%'`,
      );
      expect(active).toHaveLength(1);
    });
    await execute(pair.db, 'delete from trace_runs where tenant_id = $1', [place.tenant_id]);
    await pair.db.script('vacuum trace_runs');
    expect(await reading).toMatchObject([{ on_standby: false, count: 0 }]);
    expect(fallbacks(replica, 'conflict')).toBe(1);
  });
});

it('a read that gets no connection to the replica in time is executed on the primary', async () => {
  await using replica = openReplica({ uri: pair.uriOf(), primary: pair.db, poolMax: 2, lagMaxMs });
  await eventually(async () => expect(await isOnStandby(replica)).toBe(true));
  const release = new AbortController();
  let held = 0;
  const holding = Array.from({ length: 2 }, () =>
    replica.traceReads.transact(() => {
      held++;
      return untilAborted(release.signal);
    }),
  );
  try {
    await eventually(() => expect(held).toBe(2));
    expect(await isOnStandby(replica)).toBe(false);
    expect(fallbacks(replica, 'busy')).toBe(1);
  } finally {
    release.abort();
  }
  await Promise.all(holding);
  expect(await isOnStandby(replica)).toBe(true);
});

describe('a server that is no standby of the primary', () => {
  it('is not read: the primary itself', async () => {
    await using replica = openReplica({
      uri: `${pair.uriOf(pair.primary.port)}?target_session_attrs=any`,
      primary: pair.db,
      poolMax: 2,
      lagMaxMs,
    });
    await eventually(async () => {
      expect(await isOnStandby(replica)).toBe(false);
      expect(fallbacks(replica, 'not_standby')).toBeGreaterThan(0);
    });
    expect(replica.tally.reads.get('traces')).toBe(0);
  });

  it('is not read: a standby that was promoted, and a standby of the old timeline', async () => {
    await using own = await startReplicaPair();
    const third = await own.primary.standby();
    await using _third = third;
    await own.caughtUp();
    await using promoted = openReplica({ uri: own.uriOf(), primary: own.db, poolMax: 2, lagMaxMs });
    await eventually(async () => expect(await isOnStandby(promoted)).toBe(true));
    await own.standby.promote();
    await eventually(async () => {
      expect(await isOnStandby(promoted)).toBe(false);
      expect(fallbacks(promoted, 'not_standby')).toBeGreaterThan(0);
    });
    // The promoted server is the primary now, and the third server still follows the old one.
    await using primary = await openDatabase({ connection: { connectionString: own.uriOf() } });
    await using left = openReplica({ uri: own.uriOf(third.port), primary, poolMax: 2, lagMaxMs });
    await eventually(() => expect(left.state.is_reachable).toBe(true));
    await eventually(async () => {
      expect(await isOnStandby(left)).toBe(false);
      expect(fallbacks(left, 'other_history')).toBeGreaterThan(0);
    });
    expect(left.tally.reads.get('traces')).toBe(0);
  });
});

it('a replica that lacks a table has its read executed on the primary', async () => {
  await using replica = await open(undefined, 60_000);
  await pair.pauseReplay();
  const table = `later_${randomUUID().replaceAll('-', '')}`;
  await execute(pair.db, `create table ${table} ()`);
  const rows = await replica.traceReads.transact((tx) => tx.query({ text: `select from ${table}` }, []));
  expect(rows).toEqual([]);
  expect(fallbacks(replica, 'error')).toBe(1);
});
