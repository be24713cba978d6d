// A primary and its standby: the target of connections, and runs during a failover.
import { beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import { eventually } from '../eventually.ts';
import { sendOnce } from './caller.ts';
import { freePort } from './free-port.ts';
import { startLongRun, untilOver } from './long-run.ts';
import { startNode, type SvcNode } from './node-process.ts';
import { queryOnce, startPostgres, type FaultyPostgres } from './postgres.ts';
import { fixture } from '../fixture.ts';

const primary = fixture(() => startPostgres());
const standby = fixture(() => primary.standby());
let database: string;
beforeAll(async () => {
  database = await primary.createDatabase();
  await caughtUp();
});

/** Waits until the standby has replayed everything that the primary has written. */
const caughtUp = (): Promise<void> =>
  eventually(async () => {
    const [written] = await queryOnce<{ lsn: string }>(
      primary.connection('postgres'),
      'select pg_current_wal_lsn() as lsn',
    );
    const [replayed] = await queryOnce<{ behind: number }>(
      standby.connection('postgres'),
      'select pg_wal_lsn_diff($1, pg_last_wal_replay_lsn())::float8 as behind',
      [written?.lsn],
    );
    expect(replayed?.behind).toBeLessThanOrEqual(0);
  });

/** `hosts` are ports of the loopback interface. */
const uriOf = (hosts: number[], query = ''): string =>
  `postgresql://svc@${hosts.map((port) => `127.0.0.1:${port}`).join(',')}/${database}${query}`;

const portOf = async (uri: string): Promise<number | string> => {
  try {
    await using own = await openDatabase({ connection: { connectionString: uri } });
    const [row] = await own.query<{ port: number }>(
      { name: 'port', text: 'select inet_server_port() as port' },
      [],
    );
    return row?.port ?? 0;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a URI with several hosts', () => {
  it('connects to the first host of the requested kind', async () => {
    const nowhere = await freePort();
    const [p, s] = [primary.port, standby.port];
    const found: Record<string, number | string> = {};
    for (const wanted of ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'])
      found[wanted] = await portOf(uriOf([nowhere, s, p], `?target_session_attrs=${wanted}`));
    expect(found).toEqual({
      any: s,
      'read-write': p,
      'read-only': s,
      primary: p,
      standby: s,
      'prefer-standby': s,
    });
    expect(await portOf(uriOf([s, p]))).toBe(p);
    expect(await portOf(uriOf([p, s], '?target_session_attrs=prefer-standby'))).toBe(s);
    expect(await portOf(uriOf([p, nowhere], '?target_session_attrs=prefer-standby'))).toBe(p);
    expect(await portOf(uriOf([s, nowhere], '?target_session_attrs=primary'))).toMatch(
      /The database cannot be reached: .*ECONNREFUSED/,
    );
    expect(await portOf(uriOf([nowhere, s], '?target_session_attrs=primary'))).toMatch(
      /target_session_attrs=primary, but the server is a standby/,
    );
  });
});

const createThread = (node: SvcNode) => sendOnce(node.url, { method: 'POST', path: '/threads', body: {} });

const ready = (node: SvcNode) => sendOnce(node.url, { method: 'GET', path: '/ready' });

const setReadOnly = async (postgres: FaultyPostgres, value: 'on' | 'off'): Promise<void> => {
  const config = { ...postgres.connection('postgres'), options: '-c default_transaction_read_only=off' };
  await queryOnce(config, `alter system set default_transaction_read_only = ${value}`);
  await queryOnce(config, 'select pg_reload_conf()');
};

describe('a database that becomes read-only', () => {
  it('serves reads, rejects writes with 503, reports that at /ready, and costs a run no attempt', async () => {
    await using node = await startNode({ name: 'readonly', databaseUri: uriOf([primary.port]) });
    const run = await startLongRun(node, 30);
    await setReadOnly(primary, 'on');
    try {
      const refused = await eventually(async () => {
        const answer = await createThread(node);
        expect(answer.status).toBe(503);
        return answer;
      });
      expect(refused.body).toMatchObject({ message: 'The database is read-only at the moment' });
      expect(refused.headers.get('retry-after')).toBe('2');
      expect((await sendOnce(node.url, { method: 'GET', path: `/threads/${run.thread_id}` })).status).toBe(
        200,
      );
      await eventually(async () => {
        const { status, body } = await ready(node);
        expect({ status, body }).toMatchObject({
          status: 503,
          body: { message: 'The database is read-only at the moment' },
        });
      });
      // For longer than a lease.
      await eventually(async () => {
        const endedLater = await queryOnce(
          primary.connection(database),
          'select 1 from svc.runs where run_id = $1 and lease_until < now()',
          [run.run_id],
        );
        expect(endedLater).toHaveLength(1);
      });
    } finally {
      await setReadOnly(primary, 'off');
    }
    expect(await untilOver(node, run)).toMatchObject({ attempt: 1 });
    await eventually(async () => expect((await ready(node)).status).toBe(200));
  });

  it('costs no attempt of a run whose graph reads from the store meanwhile', async () => {
    const env = { SVC_LEASE: '60s' };
    await using node = await startNode({ name: 'keeper', databaseUri: uriOf([primary.port]), env });
    const run = await startLongRun(node, 20, 'keeper');
    await setReadOnly(primary, 'on');
    try {
      await eventually(() => expect(node.output()).toContain('an attempt of a run was lost'));
    } finally {
      await setReadOnly(primary, 'off');
    }
    expect(await untilOver(node, run)).toMatchObject({ attempt: 1 });
  });
});

describe('a failover', () => {
  it('is followed by all processes of a server, and costs a run no attempt', async () => {
    const databaseUri = uriOf([primary.port, standby.port]);
    await using node = await startNode({ name: 'failover', databaseUri });
    const run = await startLongRun(node, 60);
    // The primary becomes read-only but stays up: connections to it do not break.
    await setReadOnly(primary, 'on');
    await caughtUp();
    await standby.promote();
    await setReadOnly(standby, 'off');
    const seen = new Set<number>();
    await eventually(async () => {
      const { status } = await createThread(node);
      seen.add(status);
      expect(status).toBe(200);
    });
    expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await untilOver(node, run)).toMatchObject({ attempt: 1 });
    await eventually(async () => expect((await ready(node)).status).toBe(200));
    const there = await queryOnce<{ count: number }>(
      primary.connection('postgres'),
      `select count(*)::integer as count from pg_stat_activity where datname = $1`,
      [database],
    );
    expect(there).toEqual([{ count: 0 }]);
  });
});
