// A PostgreSQL of our own in the data directory.
//
//   absent ──initdb──▶ stopped ──first process in──▶ running ──last process out──▶ stopped
//
// Any number of svc processes share it; each leaves its identity in `attached/`. After a kill -9 the server
// goes on without us, and the next process finds it by its socket. A second start of PostgreSQL on the same
// data is refused by PostgreSQL itself.
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import type { Access } from './access.ts';
import { exists, openHome, type Home } from './home.ts';
import { withLock } from './lock-file.ts';
import { identityOf, isAlive, isRunning } from './process-identity.ts';
import { initialise, run, spawnServer } from './server-process.ts';

export interface EmbeddedPostgres extends AsyncDisposable {
  connection: pg.PoolConfig;
  /** Of the postmaster. */
  pid: number;
}

/** Recovery after a crash reads all that was written since the last checkpoint. */
const startMs = 120_000;
const stopMs = 60_000;
const retryMs = 10;
const watchMs = 250;

export const openEmbedded = async ({ dataDir }: { dataDir: string }): Promise<EmbeddedPostgres> => {
  const home = await openHome(dataDir);
  // A name of its own for every opening: several servers may live in one process.
  const ours = join(home.attached, `${process.pid}-${randomUUID()}`);
  const pid = await withLock(home.lock, async () => {
    if (!(await exists(join(home.data, 'PG_VERSION')))) await initialise(home);
    await start(home);
    await writeFile(ours, identityOf(process.pid));
    return postmasterPid(home);
  });
  let postmaster = identityOf(pid);
  const guard = keepRunning(home, pid, (next) => (postmaster = identityOf(next)));
  let closing: Promise<void> | undefined;
  return {
    connection: home.access.connection,
    pid,
    [Symbol.asyncDispose]: () =>
      (closing ??= (async () => {
        await guard[Symbol.asyncDispose]();
        await withLock(home.lock, () => leave(home, ours, postmaster));
      })()),
  };
};

/** A server that ends while it is used is started again. What it says for itself is in its log. */
const keepRunning = (home: Home, first: number, onStart: (pid: number) => void): AsyncDisposable => {
  let pid = first;
  let starting: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    await withLock(home.lock, () => start(home));
    pid = await postmasterPid(home);
    onStart(pid);
  };
  const timer = setInterval(() => {
    if (starting || isRunning(pid)) return;
    starting = look()
      .catch(() => undefined) // who needs the database is told; tried again at the next look
      .finally(() => (starting = undefined));
  }, watchMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await starting;
    },
  };
};

/** What PostgreSQL says when the one before it, dying, still holds the data or the socket. */
const heldByAnother = /lock file|shared memory block|already in use/i;

const start = async (home: Home): Promise<void> => {
  const deadline = performance.now() + startMs;
  while (!(await answers(home.access))) {
    const server = await spawnServer(home);
    while (!server.hasEnded()) {
      if (await answers(home.access)) return;
      if (performance.now() > deadline)
        throw await failure(home, `PostgreSQL did not start within ${startMs / 1000} s`);
      await sleep(retryMs);
    }
    if (!heldByAnother.test(await server.said()) || performance.now() > deadline)
      throw await failure(home, 'PostgreSQL did not start');
    await sleep(retryMs * 5);
  }
};

/** Whether a server is there and takes queries. */
const answers = async ({ connection }: Access): Promise<boolean> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // told by connect()
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    const startingUp = '57P03';
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', startingUp].includes(code)) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined); // it never was connected
  }
};

const postmasterPid = async (home: Home): Promise<number> => {
  const file = await readFile(join(home.data, 'postmaster.pid'), 'utf8');
  return Number(file.split('\n', 1)[0]);
};

/** The last one out stops the server, and waits until it has ended. */
const leave = async (home: Home, ours: string, postmaster: string): Promise<void> => {
  await rm(ours, { force: true });
  for (const name of await readdir(home.attached)) {
    const file = join(home.attached, name);
    if (isAlive(await readFile(file, 'utf8').catch(() => ''))) return;
    await rm(file, { force: true });
  }
  const pid = await postmasterPid(home).catch(() => undefined);
  if (pid !== undefined && (await isPostmaster(home, pid, postmaster))) await stop(home, pid);
  if (home.socketDir !== undefined) await rm(home.socketDir, { recursive: true, force: true });
};

/** The file outlives a server that was killed, and its pid may be somebody else's by now. */
const isPostmaster = async (home: Home, pid: number, postmaster: string): Promise<boolean> =>
  isRunning(pid) && (identityOf(pid) === postmaster || (await answers(home.access)));

const stop = async (home: Home, pid: number): Promise<void> => {
  if (process.platform === 'win32') return run(home, 'pg_ctl', ['stop', '-D', home.data, '-m', 'fast']);
  process.kill(pid, 'SIGINT'); // fast shutdown: ends sessions, writes a checkpoint
  const deadline = performance.now() + stopMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) throw await failure(home, 'PostgreSQL did not stop');
    await sleep(retryMs);
  }
};

const failure = async (home: Home, what: string): Promise<Problem> => {
  const log = await readFile(home.log, 'utf8').catch(() => '');
  return new Problem(
    'unavailable',
    `${what}. Its log, ${home.log}, ends with: ${log.trim().split('\n').slice(-3).join(' | ')}`,
  );
};
