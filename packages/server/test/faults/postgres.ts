// A PostgreSQL of its own on a loopback port, which a test can stop, crash and start again.
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import type { Binaries } from '../../src/storage/embedded/binaries.ts';
import { openHome, type Home } from '../../src/storage/embedded/home.ts';
import { initialise, run } from '../../src/storage/embedded/server-process.ts';
import { migrate } from '../../src/storage/schema/migrate.ts';
import { freePort } from './free-port.ts';

/** `immediate` is a crash: nothing is flushed, and the next start recovers. `fast` ends all sessions first. */
export type StopMode = 'immediate' | 'fast';

/** The database of a cluster of svc processes. */
export interface ClusterPostgres {
  /** `host:port,…` of a URI. */
  readonly hosts?: string;
  /** A direct connection as superuser, to the server that accepts writes. */
  connection(database: string): pg.ClientConfig | Promise<pg.ClientConfig>;
  /** Creates a migrated database. */
  createDatabase(): Promise<string>;
  dropDatabase(database: string): Promise<void>;
  /** Does nothing when it is up. */
  start(): Promise<void>;
}

export interface FaultyPostgres extends ClusterPostgres, AsyncDisposable {
  readonly port: number;
  connection(database: string): pg.ClientConfig;
  stop(mode: StopMode): Promise<void>;
  restart(mode: StopMode): Promise<void>;
  /** Creates a standby with all data that streams from it. The embedded PostgreSQL, which has no pg_basebackup, stops for a moment. */
  standby(): Promise<FaultyPostgres>;
  /** Promotes a standby to primary. */
  promote(): Promise<void>;
  /** Its data directory. */
  readonly data: string;
  /** The contents of its log. */
  log(): Promise<string>;
  /** Ends up to `count` random sessions of a database; returns how many. */
  terminateBackends(database: string, count: number): Promise<number>;
}

const signals = { immediate: 'SIGQUIT', fast: 'SIGINT' } as const;
const template = 'svc_template';
const host = '127.0.0.1';

export interface PostgresOptions {
  /** Those of the embedded PostgreSQL by default. */
  binaries?: Binaries;
  /** True by default; a server that is not durable loses the newest commits in a crash. */
  durable?: boolean;
  /** Called with the data folder before it exists. */
  prepare?: (folder: string) => Promise<void>;
}

export const startPostgres = async ({
  binaries,
  durable = true,
  prepare,
}: PostgresOptions = {}): Promise<FaultyPostgres> => {
  const folder = await mkdtemp(join(inject('scratch'), 'faults-'));
  await prepare?.(folder);
  const home = { ...(await openHome(folder)), ...(binaries && { binaries }) };
  await initialise(home);
  const server = new PostgresServer(home, await freePort(), durable);
  await server.start();
  const postgres = handleOf(server, home, folder, durable);
  await queryOnce(postgres.connection('postgres'), `create database ${template}`);
  await using database = await openDatabase({ connection: postgres.connection(template) });
  await migrate(database);
  return postgres;
};

const handleOf = (server: PostgresServer, home: Home, folder: string, durable: boolean): FaultyPostgres => {
  const connection = (database: string): pg.ClientConfig => ({
    host,
    port: server.port,
    user: 'svc',
    database,
  });
  const asAdmin = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    queryOnce<Row>(connection('postgres'), text, values);
  return {
    port: server.port,
    data: home.data,
    connection,
    log: () => readFile(home.log, 'utf8'),
    async standby() {
      const other = await mkdtemp(join(inject('scratch'), 'standby-'));
      const otherHome = { ...(await openHome(other)), binaries: home.binaries };
      if (existsSync(home.binaries.program('pg_basebackup'))) await backUp(server, otherHome);
      else await copyStopped(server, home, otherHome);
      const standby = new PostgresServer(otherHome, await freePort(), durable);
      await standby.start();
      return handleOf(standby, otherHome, other, durable);
    },
    async promote() {
      await asAdmin('select pg_promote()');
    },
    async createDatabase() {
      const name = `svc_${randomUUID().replaceAll('-', '')}`;
      await asAdmin(`create database ${name} template ${template}`);
      return name;
    },
    async dropDatabase(database) {
      await asAdmin(`drop database if exists ${database} with (force)`);
    },
    start: () => server.start(),
    stop: (mode) => server.stop(mode),
    async restart(mode) {
      await server.stop(mode);
      await server.start();
    },
    async terminateBackends(database, count) {
      const ended = await asAdmin(
        `select pg_terminate_backend(pid) from (
           select pid from pg_stat_activity
           where datname = $1 and backend_type = 'client backend' and application_name <> 'observer'
           order by random() limit $2) victims`,
        [database, count],
      );
      return ended.length;
    },
    async [Symbol.asyncDispose]() {
      await server.stop('immediate');
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
};

/** Copies the data of a server that accepts writes meanwhile, and lets the copy stream from it. */
const backUp = ({ port }: PostgresServer, standby: Home): Promise<void> =>
  run(standby, 'pg_basebackup', [
    `--dbname=host=${host} port=${port} user=svc`,
    `--pgdata=${standby.data}`,
    '--wal-method=stream',
    '--checkpoint=fast',
    '--write-recovery-conf',
  ]);

const copyStopped = async (server: PostgresServer, home: Home, standby: Home): Promise<void> => {
  await server.stop('fast');
  await cp(home.data, standby.data, { recursive: true, preserveTimestamps: true });
  await server.start();
  await writeFile(join(standby.data, 'standby.signal'), '');
  const source = `host=${host} port=${server.port} user=svc`;
  await appendFile(join(standby.data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
};

/** Executes one statement on a connection of its own. */
export const queryOnce = async <Row extends pg.QueryResultRow>(
  config: pg.ClientConfig,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // the query rejects with the same error
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
};

class PostgresServer {
  readonly port: number;
  readonly #home: Home;
  readonly #durable: boolean;
  #child: ChildProcess | undefined;

  constructor(home: Home, port: number, durable: boolean) {
    this.#home = home;
    this.port = port;
    this.#durable = durable;
  }

  async start(): Promise<void> {
    if (this.#isUp()) return;
    const { data, log, socketDir, binaries, unprivileged } = this.#home;
    const durability = this.#durable
      ? ['fsync=on', 'synchronous_commit=on']
      : ['fsync=off', 'synchronous_commit=off', 'wal_writer_delay=10s'];
    const settings = [
      `listen_addresses=${host}`,
      'max_connections=200',
      'shared_buffers=64MB',
      ...durability,
    ];
    const args = ['-D', data, '-k', socketDir ?? join(data, '..'), '-p', String(this.port)];
    const [command, all] = unprivileged.wrap(binaries.program('postgres'), [
      ...args,
      ...settings.flatMap((setting) => ['-c', setting]),
    ]);
    await using file = await open(log, 'a', 0o600);
    if (unprivileged.ids.uid !== undefined)
      await file.chown(unprivileged.ids.uid, unprivileged.ids.gid ?? -1);
    const child = spawn(command, all, {
      detached: true,
      stdio: ['ignore', file.fd, file.fd],
      env: binaries.env,
      cwd: '/',
      ...unprivileged.ids,
    });
    this.#child = child;
    await this.#untilReady(child);
  }

  async stop(mode: StopMode): Promise<void> {
    const child = this.#child;
    if (!child || !this.#isUp()) return;
    const ended = once(child, 'exit');
    child.kill(signals[mode]);
    await ended;
  }

  #isUp(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const deadline = performance.now() + 60_000;
    const config = { host, port: this.port, user: 'svc', database: 'postgres' };
    for (;;) {
      try {
        await queryOnce(config, 'select 1');
        return;
      } catch (cause) {
        if (child.exitCode === null && performance.now() < deadline) await sleep(10);
        else {
          const output = (await readFile(this.#home.log, 'utf8')).slice(-500);
          throw new Error(`PostgreSQL did not start: ${output}`, { cause });
        }
      }
    }
  }
}
