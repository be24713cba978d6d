// Connections to a real server: results, retries, and broken connections.
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectionSetup } from '../../src/storage/postgres/connection-options.ts';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import { openListener } from '../../src/storage/postgres/listener.ts';
import { testDatabase } from '../database.ts';
import { scaled } from '../speed.ts';
import { until } from '../eventually.ts';
import { freePort } from '../faults/free-port.ts';
import { fixture } from '../fixture.ts';

const db = fixture(() => testDatabase());
beforeAll(async () => {
  await db.script('create table public.numbers (n integer primary key, value integer not null default 0)');
});

let names = 0;
/** Executes a statement under a new name. */
const run = <Row = Record<string, unknown>>(
  on: Database,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => on.query<Row>({ name: `ask_${names++}`, text }, values);

const backendOf = async (on: Database): Promise<number> =>
  (await run<{ pid: number }>(on, 'select pg_backend_pid() as pid'))[0]?.pid ?? 0;

describe('a session', () => {
  it('has all timeouts and the svc schema, whatever options the URI contains', async () => {
    await using own = await openDatabase({
      connection: {
        connectionString: `${db.uri}${db.uri.includes('?') ? '&' : '?'}options=-c%20work_mem%3D8MB`,
      },
    });
    const rows = await run(
      own,
      `select name, setting from pg_settings where name in ('search_path', 'work_mem', 'statement_timeout',
         'lock_timeout', 'idle_in_transaction_session_timeout', 'TimeZone') order by name`,
    );
    expect(Object.fromEntries(rows.map((row) => [row['name'], row['setting']]))).toEqual({
      TimeZone: 'UTC',
      idle_in_transaction_session_timeout: '30000',
      lock_timeout: '15000',
      search_path: 'svc',
      statement_timeout: '30000',
      work_mem: '8192',
    });
  });

  it('with a database that cannot store all characters is refused', async () => {
    const name = `svc_latin_${randomUUID().replaceAll('-', '')}`;
    await db.script(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    try {
      const opening = openDatabase({ connection: { ...db.options.connection, database: name } });
      await expect(opening).rejects.toThrow('the encoding UTF8 is required; this one has LATIN1');
    } finally {
      await db.script(`drop database ${name}`);
    }
  });

  it('reads times as ISO text in UTC, also when the database has another date style', async () => {
    const [{ name } = {}] = await run<{ name: string }>(db, 'select current_database() as name');
    await db.script(
      `alter database ${name} set datestyle = 'SQL, DMY'; alter database ${name} set timezone = 'Asia/Kolkata'`,
    );
    await using own = await openDatabase(db.options);
    expect(
      await run(
        own,
        `select '2026-02-01T00:00:00.1234Z'::timestamptz as t, '2026-02-01 00:00'::timestamp as local,
           '2026-02-01'::date as d, 9007199254740991 as i, '{"a": [1]}'::jsonb as j, $1::uuid as u`,
        ['00000000-0000-4000-8000-000000000000'],
      ),
    ).toEqual([
      {
        t: '2026-02-01T00:00:00.123Z',
        local: '2026-02-01T00:00:00.000Z',
        d: '2026-02-01',
        i: 9007199254740991,
        j: { a: [1] },
        u: '00000000-0000-4000-8000-000000000000',
      },
    ]);
    await expect(run(own, 'select 9007199254740993 as i')).rejects.toThrow(RangeError);
  });
});

describe('a transaction', () => {
  it('commits everything or nothing', async () => {
    const failed = db.transact(async (tx) => {
      await run(tx, 'insert into public.numbers values (1)');
      throw new TypeError('Connection timeout is not a number');
    });
    // An error of the caller is thrown unchanged, whatever its text.
    await expect(failed).rejects.toThrow(TypeError);
    expect(await run(db, 'select n from public.numbers where n = 1')).toEqual([]);
  });

  it('fails when the error of a statement was caught, since nothing is committed then', async () => {
    const failed = db.transact(async (tx) => {
      await run(tx, 'insert into public.numbers values (2)');
      await run(tx, 'select 1 / 0').catch(() => undefined);
    });
    await expect(failed).rejects.toThrow(/Nothing was committed/);
    expect(await run(db, 'select n from public.numbers where n = 2')).toEqual([]);
  });

  it('rejects statements on its handle once it has ended', async () => {
    const tx = await db.transact((handle) => Promise.resolve(handle));
    await expect(run(tx, 'select 1')).rejects.toThrow(/has ended/);
  });

  it('leaves the outer handle usable', async () => {
    await db.transact(async (tx) => {
      await run(tx, 'insert into public.numbers values (3)');
      expect(await run(db, 'select n from public.numbers where n = 3')).toEqual([]);
    });
    expect(await run(db, 'select n from public.numbers where n = 3')).toEqual([{ n: 3 }]);
  });

  it('is retried after a serialization failure', async () => {
    await run(db, 'insert into public.numbers values (4)');
    const add = (met: () => Promise<void>) =>
      db.transact(async (tx) => {
        await tx.script('set transaction isolation level serializable');
        const [row] = await run<{ value: number }>(tx, 'select value from public.numbers where n = 4');
        await met();
        await run(tx, 'update public.numbers set value = $1 where n = 4', [(row?.value ?? 0) + 1]);
      });
    let here = 0;
    const both = async (): Promise<void> => {
      here++;
      await until(() => here >= 2);
    };
    await Promise.all([add(both), add(both)]);
    expect(await run(db, 'select value from public.numbers where n = 4')).toEqual([{ value: 2 }]);
    expect(here).toBe(3);
  });

  it('fails after three tries', async () => {
    let tries = 0;
    const failed = db.transact(async (tx) => {
      tries++;
      await tx.script(`do $$ begin raise exception 'again' using errcode = '40P01'; end $$`);
    });
    await expect(failed).rejects.toMatchObject({ code: '40P01' });
    expect(tries).toBe(3);
  });

  it('does not crash the process when its connection is closed between two statements', async () => {
    const failed = db.transact(async (tx) => {
      const pid = await backendOf(tx);
      await run(db, 'select pg_terminate_backend($1)', [pid]);
      await until(
        async () => (await run(db, 'select 1 from pg_stat_activity where pid = $1', [pid])).length === 0,
      );
      await run(tx, 'select 1');
    });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(await run(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a connection', () => {
  it('is destroyed after the server has cancelled a statement', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const before = await backendOf(own);
    await own.script(`set statement_timeout = 50`);
    await expect(run(own, 'select pg_sleep(20)')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await backendOf(own)).not.toBe(before);
    expect(await run(own, `select current_setting('statement_timeout') as t`)).toEqual([{ t: '30s' }]);
  });

  it('is destroyed after a timeout of the driver, and the next one works', async () => {
    await using proxy = await openProxy(db.options.connection);
    await using own = await openDatabase({
      connection: {
        ...db.options.connection,
        host: '127.0.0.1',
        port: proxy.port,
        ssl: false,
        query_timeout: scaled(1_000),
      },
      poolMax: 1,
    });
    const before = await backendOf(own);
    proxy.silence();
    await expect(run(own, 'select 1')).rejects.toMatchObject({ code: 'unavailable' });
    proxy.resume();
    expect(await backendOf(own)).not.toBe(before);
  });

  it('is returned after an ordinary error', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const before = await backendOf(own);
    await expect(run(own, 'select 1 / 0')).rejects.toBeInstanceOf(Problem);
    expect(await backendOf(own)).toBe(before);
  });

  it('has not sent a statement while the statement waits for it', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    let sent = 0;
    const text = 'select 1 as one';
    await own
      .transact(async (tx) => {
        const waiting = own.query({ name: 'sent', text, onSend: () => (sent += 1) }, []);
        await until(() => own.poolState().pool_waiting === 1);
        expect(sent).toBe(0);
        await tx.query({ name: 'sent', text, onSend: () => (sent += 1) }, []);
        expect(sent).toBe(1);
        return { waiting };
      })
      .then(({ waiting }) => waiting);
    expect(sent).toBe(2);
  });

  it('retries a prepared statement when a newer release has changed its result type', async () => {
    await using upgraded = await testDatabase();
    const rows = () => upgraded.query({ name: 'rows', text: 'select * from changing' }, []);
    await upgraded.script('create table changing (a integer)');
    await upgraded.script('insert into changing values (1)');
    expect(await rows()).toEqual([{ a: 1 }]);
    await upgraded.script('alter table changing add column b integer');
    expect(await rows()).toEqual([{ a: 1, b: null }]);
  });

  it('is replaced when it was closed while idle', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const pid = await backendOf(own);
    await run(db, 'select pg_terminate_backend($1)', [pid]);
    await until(() =>
      backendOf(own).then(
        (now) => now !== pid,
        () => false,
      ),
    );
  });

  it('is still given to waiting callers when the database is closed', async () => {
    const own = await openDatabase({ ...db.options, poolMax: 1 });
    const waiting = Array.from({ length: 5 }, (_, n) => run(own, `select ${n} as n, pg_sleep(0.01)`));
    await own[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
    expect((await Promise.all(waiting)).map(([row]) => row?.['n'])).toEqual([0, 1, 2, 3, 4]);
    await expect(run(own, 'select 1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that fails throws an error with a clear message', async () => {
    const connection = { host: '127.0.0.1', port: await freePort(), user: 'x', database: 'x' };
    await expect(openDatabase({ connection })).rejects.toThrow(
      /The database cannot be reached: .*ECONNREFUSED/,
    );
    await expect(openDatabase({ connection: { connectionString: 'nonsense' } })).rejects.toThrow(
      /SVC_DATABASE_URI is not a PostgreSQL URI/,
    );
  });

  it('to a server older than 15 is rejected', async () => {
    await using old = await openOldServer();
    const connection = { host: '127.0.0.1', port: old.port, user: 'x', database: 'x', ssl: false };
    await expect(openDatabase({ connection })).rejects.toThrow(
      'PostgreSQL 15 or newer is required; this server is 14',
    );
  });
});

describe('a listener', () => {
  it('receives notifications, reconnects when its connection is closed, and reports that', async () => {
    const received: string[] = [];
    let reconnects = 0;
    await using own = await openDatabase({ ...db.options, applicationName: 'svc-listening' });
    const pids = () =>
      run<{ pid: number }>(
        db,
        `select pid from pg_stat_activity where application_name = 'svc-listening' and query like 'listen %'`,
      );
    {
      await using _listener = await own.listen(
        'a "channel"',
        (payload) => received.push(payload),
        () => reconnects++,
      );
      await run(db, 'select pg_notify($1, $2)', ['a "channel"', 'one']);
      await until(() => received.length === 1);
      const [first] = await pids();
      await run(db, 'select pg_terminate_backend($1)', [first?.pid]);
      await until(() => reconnects === 1);
      await run(db, 'select pg_notify($1, $2)', ['a "channel"', 'two']);
      await until(() => received.length === 2);
    }
    expect(received).toEqual(['one', 'two']);
    await until(async () => (await pids()).length === 0);
  });

  it('tries no connection after it was closed in a pause between two tries', async () => {
    const setup = connectionSetup({ ...db.options, applicationName: 'svc-closed-listener' });
    let tries = 0;
    let closed: PromiseLike<void> | undefined;
    class Client extends setup.Client {
      constructor(config: pg.ClientConfig) {
        super(config);
        tries++;
        if (tries > 1) Object.assign(this, { connect: fail });
      }
    }
    const fail = (): Promise<never> => {
      if (tries === 3) setImmediate(() => void (closed = listener[Symbol.asyncDispose]()));
      return Promise.reject(new Error('The database cannot be reached'));
    };
    const listener = await openListener({
      setup: { ...setup, Client },
      channel: 'closed',
      onNotify: () => undefined,
    });
    await run(
      db,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc-closed-listener'`,
    );
    await until(() => closed !== undefined);
    await closed;
    expect(tries).toBe(3);
  });
});

interface Proxy extends AsyncDisposable {
  port: number;
  /** From now on nothing is forwarded on open connections; they stay open. */
  silence(): void;
  /** Connections that are opened from now on are forwarded. */
  resume(): void;
}

const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port;

const openProxy = async ({ host = 'localhost', port = 5432 }: pg.PoolConfig): Promise<Proxy> => {
  const sockets = new Set<net.Socket>();
  let isSilent = false;
  const server = net.createServer((near) => {
    const far = host.startsWith('/') ? net.connect(`${host}/.s.PGSQL.${port}`) : net.connect(port, host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined).on('data', (chunk) => void (isSilent || to.write(chunk)));
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    silence: () => void (isSilent = true),
    resume: () => void (isSilent = false),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** A server that speaks just enough of the protocol to report PostgreSQL 14. */
const openOldServer = async (): Promise<{ port: number } & AsyncDisposable> => {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const ready = message('Z', Buffer.from('I'));
  const text = '140012';
  const column = Buffer.concat([
    Buffer.from('\0\u0001version\0'),
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0]),
  ]);
  const row = Buffer.concat([Buffer.from([0, 1, 0, 0, 0, text.length]), Buffer.from(text)]);
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]));
      socket.once('data', () =>
        socket.write(
          Buffer.concat([
            message('T', column),
            message('D', row),
            message('C', Buffer.from('SELECT 1\0')),
            ready,
          ]),
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
