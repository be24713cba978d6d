// Connections against a real server: what comes out, what is retried, and what happens when they break.
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../src/storage/postgres/database.ts';
import { testDatabase, type TestDatabase } from '../database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
  await db.script('create table public.numbers (n integer primary key, value integer not null default 0)');
});
afterAll(() => db[Symbol.asyncDispose]());

let names = 0;
/** A statement that is used once. */
const ask = <Row = Record<string, unknown>>(
  on: Database,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => on.query<Row>({ name: `ask_${names++}`, text }, values);

const backendOf = async (on: Database): Promise<number> =>
  (await ask<{ pid: number }>(on, 'select pg_backend_pid() as pid'))[0]?.pid ?? 0;

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 15_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not come true');
    await sleep(10);
  }
};

describe('a session', () => {
  it('has every timeout and our schema, whatever options the URI brings', async () => {
    await using own = await openDatabase({
      connection: {
        connectionString: `${db.uri}${db.uri.includes('?') ? '&' : '?'}options=-c%20work_mem%3D8MB`,
      },
    });
    const rows = await ask(
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

  it('reads times as ISO text in UTC, where the database prefers another style as well', async () => {
    const [{ name } = {}] = await ask<{ name: string }>(db, 'select current_database() as name');
    await db.script(
      `alter database ${name} set datestyle = 'SQL, DMY'; alter database ${name} set timezone = 'Asia/Kolkata'`,
    );
    await using own = await openDatabase(db.options);
    expect(
      await ask(
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
    await expect(ask(own, 'select 9007199254740993 as i')).rejects.toThrow(RangeError);
  });
});

describe('a transaction', () => {
  it('keeps all or nothing', async () => {
    const failed = db.transact(async (tx) => {
      await ask(tx, 'insert into public.numbers values (1)');
      throw new TypeError('Connection timeout is not a number');
    });
    // An error of the caller's own stays what it is, whatever its words.
    await expect(failed).rejects.toThrow(TypeError);
    expect(await ask(db, 'select n from public.numbers where n = 1')).toEqual([]);
  });

  it('fails when the error of a statement was caught, since nothing is committed then', async () => {
    const failed = db.transact(async (tx) => {
      await ask(tx, 'insert into public.numbers values (2)');
      await ask(tx, 'select 1 / 0').catch(() => undefined);
    });
    await expect(failed).rejects.toThrow(/Nothing was committed/);
    expect(await ask(db, 'select n from public.numbers where n = 2')).toEqual([]);
  });

  it('refuses its handle once it has ended', async () => {
    const tx = await db.transact((handle) => Promise.resolve(handle));
    await expect(ask(tx, 'select 1')).rejects.toThrow(/has ended/);
  });

  it('leaves the outer handle usable', async () => {
    await db.transact(async (tx) => {
      await ask(tx, 'insert into public.numbers values (3)');
      expect(await ask(db, 'select n from public.numbers where n = 3')).toEqual([]);
    });
    expect(await ask(db, 'select n from public.numbers where n = 3')).toEqual([{ n: 3 }]);
  });

  it('is tried again after a serialization failure', async () => {
    await ask(db, 'insert into public.numbers values (4)');
    const add = (met: () => Promise<void>) =>
      db.transact(async (tx) => {
        await tx.script('set transaction isolation level serializable');
        const [row] = await ask<{ value: number }>(tx, 'select value from public.numbers where n = 4');
        await met();
        await ask(tx, 'update public.numbers set value = $1 where n = 4', [(row?.value ?? 0) + 1]);
      });
    let here = 0;
    const both = async (): Promise<void> => {
      here++;
      await until(() => here >= 2);
    };
    await Promise.all([add(both), add(both)]);
    expect(await ask(db, 'select value from public.numbers where n = 4')).toEqual([{ value: 2 }]);
    expect(here).toBe(3);
  });

  it('gives up after three tries', async () => {
    let tries = 0;
    const failed = db.transact(async (tx) => {
      tries++;
      await tx.script(`do $$ begin raise exception 'again' using errcode = '40P01'; end $$`);
    });
    await expect(failed).rejects.toMatchObject({ code: '40P01' });
    expect(tries).toBe(3);
  });

  it('does not take the process down when its connection is cut between two statements', async () => {
    const failed = db.transact(async (tx) => {
      const pid = await backendOf(tx);
      await ask(db, 'select pg_terminate_backend($1)', [pid]);
      await until(
        async () => (await ask(db, 'select 1 from pg_stat_activity where pid = $1', [pid])).length === 0,
      );
      await ask(tx, 'select 1');
    });
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    expect(await ask(db, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('a connection', () => {
  it('is destroyed after the server gave up on a statement', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const before = await backendOf(own);
    await own.script(`set statement_timeout = 50`);
    await expect(ask(own, 'select pg_sleep(20)')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await backendOf(own)).not.toBe(before);
    expect(await ask(own, `select current_setting('statement_timeout') as t`)).toEqual([{ t: '30s' }]);
  });

  it('is destroyed after the driver gave up on a server that went silent, and the next one works', async () => {
    await using proxy = await openProxy(db.options.connection);
    await using own = await openDatabase({
      connection: {
        ...db.options.connection,
        host: '127.0.0.1',
        port: proxy.port,
        ssl: false,
        query_timeout: 300,
      },
      poolMax: 1,
    });
    const before = await backendOf(own);
    proxy.silence();
    await expect(ask(own, 'select 1')).rejects.toMatchObject({ code: 'unavailable' });
    proxy.resume();
    expect(await backendOf(own)).not.toBe(before);
  });

  it('is returned after an ordinary error', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const before = await backendOf(own);
    await expect(ask(own, 'select 1 / 0')).rejects.toBeInstanceOf(Problem);
    expect(await backendOf(own)).toBe(before);
  });

  it('that is waited for is no time in which a statement was on its way', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    let sent = 0;
    const text = 'select 1 as one';
    await own
      .transact(async (tx) => {
        const waiting = own.query({ name: 'told', text, onSend: () => (sent += 1) }, []);
        await until(() => own.poolState().pool_waiting === 1);
        expect(sent).toBe(0);
        await tx.query({ name: 'told', text, onSend: () => (sent += 1) }, []);
        expect(sent).toBe(1);
        return { waiting };
      })
      .then(({ waiting }) => waiting);
    expect(sent).toBe(2);
  });

  it('asks again when a newer release has changed what a prepared statement returns', async () => {
    await using upgraded = await testDatabase();
    const rows = () => upgraded.query({ name: 'rows', text: 'select * from changing' }, []);
    await upgraded.script('create table changing (a integer)');
    await upgraded.script('insert into changing values (1)');
    expect(await rows()).toEqual([{ a: 1 }]);
    await upgraded.script('alter table changing add column b integer');
    expect(await rows()).toEqual([{ a: 1, b: null }]);
  });

  it('that is cut while idle is replaced', async () => {
    await using own = await openDatabase({ ...db.options, poolMax: 1 });
    const pid = await backendOf(own);
    await ask(db, 'select pg_terminate_backend($1)', [pid]);
    await until(() =>
      backendOf(own).then(
        (now) => now !== pid,
        () => false,
      ),
    );
  });

  it('still serves those who wait for it when the database is closed', async () => {
    const own = await openDatabase({ ...db.options, poolMax: 1 });
    const waiting = Array.from({ length: 5 }, (_, n) => ask(own, `select ${n} as n, pg_sleep(0.01)`));
    await own[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
    expect((await Promise.all(waiting)).map(([row]) => row?.['n'])).toEqual([0, 1, 2, 3, 4]);
    await expect(ask(own, 'select 1')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that cannot be made is a sentence', async () => {
    const connection = { host: '127.0.0.1', port: await freePort(), user: 'x', database: 'x' };
    await expect(openDatabase({ connection })).rejects.toThrow(
      /The database cannot be reached: .*ECONNREFUSED/,
    );
    await expect(openDatabase({ connection: { connectionString: 'nonsense' } })).rejects.toThrow(
      /SVC_DATABASE_URI is not a PostgreSQL URI/,
    );
  });

  it('to a server older than 15 is refused', async () => {
    await using old = await openOldServer();
    const connection = { host: '127.0.0.1', port: old.port, user: 'x', database: 'x', ssl: false };
    await expect(openDatabase({ connection })).rejects.toThrow(
      'PostgreSQL 15 or newer is required; this server is 14',
    );
  });
});

describe('a listener', () => {
  it('hears, comes back when it is cut, says so, and hears again', async () => {
    const heard: string[] = [];
    let reconnects = 0;
    await using own = await openDatabase({ ...db.options, applicationName: 'svc-listening' });
    const pids = () =>
      ask<{ pid: number }>(
        db,
        `select pid from pg_stat_activity where application_name = 'svc-listening' and query like 'listen %'`,
      );
    {
      await using _listener = await own.listen(
        'a "channel"',
        (payload) => heard.push(payload),
        () => reconnects++,
      );
      await ask(db, 'select pg_notify($1, $2)', ['a "channel"', 'one']);
      await until(() => heard.length === 1);
      const [first] = await pids();
      await ask(db, 'select pg_terminate_backend($1)', [first?.pid]);
      await until(() => reconnects === 1);
      await ask(db, 'select pg_notify($1, $2)', ['a "channel"', 'two']);
      await until(() => heard.length === 2);
    }
    expect(heard).toEqual(['one', 'two']);
    await until(async () => (await pids()).length === 0);
  });
});

interface Proxy extends AsyncDisposable {
  port: number;
  /** From now on nothing passes, on connections that are open; they are not closed. */
  silence(): void;
  /** Connections that are made from now on pass. */
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

const freePort = async (): Promise<number> => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
};

/** Speaks just enough of the protocol to say that it is PostgreSQL 14. */
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
