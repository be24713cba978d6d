// The embedded PostgreSQL server, in the data directory.
//
//   absent ──initdb──▶ stopped ──first process in──▶ running ──last process out──▶ stopped
//
// Any number of svc processes share it; each one that is attached has a file with its identity in `attached/`. When svc is killed
// with SIGKILL, the server keeps running, and the next process finds it by its socket. `ownership.ts` prevents a second server on the
// same data, on this machine or another.
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import type { ServerAddress } from './server-address.ts';
import { findFull } from './data-folder.ts';
import { assertDataVersion } from './data-version.ts';
import { exists, openHome, type Home } from './home.ts';
import { disown, isTakenOver, keepOwning, own, takeOver, withLock } from './ownership.ts';
import { clearStaleFiles, findPostmaster, isPostmaster } from './postmaster-file.ts';
import { identityOf, isAlive, isRunning } from '../../config/process-identity.ts';
import { initialise, run, type ServerProcess, spawnServer } from './server-process.ts';

export interface EmbeddedPostgres extends AsyncDisposable {
  connection: pg.PoolConfig;
  /** Process id of the postmaster. */
  pid: number;
  /** Why the server ended and could not be restarted; undefined while it runs. */
  failure(): string | undefined;
}

export interface EmbeddedOptions {
  dataDir: string;
  /** Connections that this process needs; a server that is started now allows more than that. */
  connections?: number | undefined;
  /** An abort stops a server that is starting; opening then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Time to start. Crash recovery replays everything that was written since the last checkpoint. */
const startMs = 120_000;
/** How long to wait until a previous server has released the data and the socket. */
const heldMs = 30_000;
const stopMs = 60_000;
const retryMs = 10;
const watchMs = 250;
const restartMs = { first: 250, max: 5_000 };
const ownedMs = 2_000;

export const openEmbedded = async ({
  dataDir,
  connections,
  signal,
}: EmbeddedOptions): Promise<EmbeddedPostgres> => {
  const home = await openHome(dataDir, connections);
  // A unique name for every opening, since one process may run several servers.
  const ours = join(home.attached, `${process.pid}-${randomUUID()}`);
  const pid = await withLock(home.lock, () => enter(home, ours, signal), signal);
  const owning = keepOwning(home);
  const supervisor = new Supervisor(home, pid);
  let closing: Promise<void> | undefined;
  return {
    connection: home.address.connection,
    pid,
    failure: () => supervisor.failure,
    [Symbol.asyncDispose]: () =>
      (closing ??= (async () => {
        await supervisor[Symbol.asyncDispose]();
        owning[Symbol.dispose]();
        await withLock(home.lock, () => leave(home, ours));
      })()),
  };
};

/** Starts the server when none runs, and attaches this process. Returns the postmaster's pid. */
const enter = async (home: Home, ours: string, signal?: AbortSignal): Promise<number> => {
  await takeOver(home, signal);
  if (await exists(join(home.data, 'PG_VERSION'))) await assertDataVersion(home.data, home.binaries.major);
  else await initialise(home);
  await own(home);
  try {
    await start(home, signal);
  } catch (error) {
    if (!(await hasUsers(home))) await disown(home);
    throw error;
  }
  try {
    await writeFile(ours, identityOf(process.pid));
    return await postmasterPid(home);
  } catch (error) {
    await leave(home, ours).catch(() => undefined); // the first error is the one to report
    throw error;
  }
};

/** True when a live process is attached. Removes the files of processes that were killed. */
const hasUsers = async (home: Home): Promise<boolean> => {
  for (const name of await readdir(home.attached)) {
    const file = join(home.attached, name);
    if (isAlive(await readFile(file, 'utf8').catch(() => ''))) return true;
    await rm(file, { force: true });
  }
  return false;
};

/** Restarts the server when it ends while it is in use. Stops it when another machine or container has taken over the data. */
class Supervisor implements AsyncDisposable {
  readonly #home: Home;
  readonly #timer: NodeJS.Timeout;
  #postmaster: string;
  #looking: Promise<void> | undefined;
  #pauseMs = restartMs.first;
  #nextMs = 0;
  #ownedMs = performance.now() + ownedMs;
  #isTakenOver = false;
  failure: string | undefined;

  constructor(home: Home, pid: number) {
    this.#home = home;
    this.#postmaster = identityOf(pid);
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    }, watchMs);
    this.#timer.unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Never rejects: an error is reported as `failure`, and the restart is retried. */
  async #look(): Promise<void> {
    if (performance.now() >= this.#ownedMs) await this.#checkOwner();
    if (this.#isTakenOver || isAlive(this.#postmaster) || performance.now() < this.#nextMs) return;
    try {
      await withLock(this.#home.lock, async () => {
        await takeOver(this.#home);
        await own(this.#home);
        await start(this.#home);
      });
      this.#postmaster = identityOf(await postmasterPid(this.#home));
      this.failure = undefined;
      this.#pauseMs = restartMs.first;
    } catch {
      const isFull = (await findFull(dirname(this.#home.data))) !== undefined;
      const reason = isFull ? 'its disk is full' : 'see its log';
      this.failure = `PostgreSQL has ended and cannot be started again: ${reason}`;
      this.#nextMs = performance.now() + this.#pauseMs;
      this.#pauseMs = Math.min(this.#pauseMs * 2, restartMs.max);
    }
  }

  /** Another machine takes over when this process was suspended for so long that it seemed dead. */
  async #checkOwner(): Promise<void> {
    this.#ownedMs = performance.now() + ownedMs;
    this.#isTakenOver = await isTakenOver(this.#home).catch(() => false); // the folder cannot be read at the moment
    if (!this.#isTakenOver) return;
    this.failure = 'The data folder was taken over by another machine or container';
    if (isAlive(this.#postmaster)) process.kill(Number(this.#postmaster.split(' ')[0]), 'SIGQUIT');
  }
}

/** PostgreSQL's messages while a previous server, which is shutting down, still holds the data or the socket. */
const heldByAnother = /lock file|shared memory block|already in use/i;

const start = async (home: Home, signal?: AbortSignal): Promise<void> => {
  const heldUntil = performance.now() + heldMs;
  while (!(await answers(home.address))) {
    signal?.throwIfAborted();
    await clearStaleFiles(home);
    const server = await spawnServer(home);
    if (server && (await comesUp(home, server, signal))) return;
    const isHeld = server === undefined || heldByAnother.test(await server.output());
    if (!isHeld) throw await failure(home, 'PostgreSQL did not start');
    if (performance.now() > heldUntil)
      throw await failure(home, 'Another PostgreSQL holds the data folder and does not answer');
    await sleep(retryMs * 5);
  }
};

/** Waits until the server accepts connections; false when it has ended instead. */
const comesUp = async (home: Home, server: ServerProcess, signal?: AbortSignal): Promise<boolean> => {
  const deadline = performance.now() + startMs;
  while (!server.hasEnded()) {
    if (await answers(home.address)) return true;
    if (performance.now() > deadline)
      throw await failure(home, `PostgreSQL did not start within ${startMs / 1000} s`);
    if (signal?.aborted) {
      server.stop();
      while (!server.hasEnded() && performance.now() < deadline) await sleep(retryMs);
      throw signal.reason;
    }
    await sleep(retryMs);
  }
  return false;
};

/** True when a server accepts connections. */
const answers = async ({ connection }: ServerAddress): Promise<boolean> => {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // connect() rejects with it
  try {
    await client.connect();
    return true;
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    const [startingUp, full] = ['57P03', '53300'];
    if (code === full) return true;
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', startingUp].includes(code)) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined); // it was never connected
  }
};

const postmasterPid = async (home: Home): Promise<number> => {
  const pid = await findPostmaster(home);
  if (pid === undefined) throw await failure(home, 'PostgreSQL ended immediately after its start');
  return pid;
};

/** Detaches this process. The last process stops the server and waits until it has ended. */
const leave = async (home: Home, ours: string): Promise<void> => {
  await rm(ours, { force: true });
  if (await isTakenOver(home)) return;
  if (await hasUsers(home)) return;
  const pid = await findPostmaster(home);
  // The pid file remains after a server was killed, and its pid may belong to another process by now.
  if (pid !== undefined && (await isPostmaster(home.data, pid))) await stop(home, pid);
  await disown(home);
  if (home.socketDir !== undefined) await rm(home.socketDir, { recursive: true, force: true });
};

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
  const full = await findFull(dirname(home.data));
  if (full !== undefined) return new Problem('unavailable', `${what}. ${full}`);
  const log = await readFile(home.log, 'utf8').catch(() => '');
  return new Problem(
    'unavailable',
    `${what}. Its log, ${home.log}, ends with: ${log.trim().split('\n').slice(-3).join(' | ')}`,
  );
};
