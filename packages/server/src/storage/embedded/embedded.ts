// A PostgreSQL of our own in the data directory.
//
//   absent ──initdb──▶ stopped ──first process in──▶ running ──last process out──▶ stopped
//
// Any number of svc processes share it; each leaves its identity in `attached/`. After a kill -9 the server
// goes on without us, and the next process finds it by its socket. A second start of PostgreSQL on the same
// data is refused by PostgreSQL itself.
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@svc/contract/problem';
import pg from 'pg';
import { findBinaries, type Binaries } from './binaries.ts';
import { openAccess, type Access } from './access.ts';
import { withLock } from './lock-file.ts';
import { identityOf, isAlive, isRunning } from './process-identity.ts';
import { findUnprivileged, type Unprivileged } from './unprivileged.ts';

export interface EmbeddedPostgres extends AsyncDisposable {
  connection: pg.PoolConfig;
  /** Of the postmaster. */
  pid: number;
}

const startMs = 30_000;
const retryMs = 10;
/** Bytes; the address of a Unix socket holds 107, and PostgreSQL adds `/.s.PGSQL.5432`. */
const socketPathMax = 90;

export const openEmbedded = async ({ dataDir }: { dataDir: string }): Promise<EmbeddedPostgres> => {
  const home = await openHome(dataDir);
  // A name of its own for every opening: several servers may live in one process.
  const ours = join(home.attached, `${process.pid}-${randomUUID()}`);
  const pid = await withLock(home.lock, async () => {
    if (!(await exists(join(home.data, 'PG_VERSION')))) await initialise(home);
    if (!(await answers(home.access))) await start(home);
    await writeFile(ours, await identityOf(process.pid));
    return postmasterPid(home);
  });
  let isOpen = true;
  return {
    connection: home.access.connection,
    pid,
    async [Symbol.asyncDispose]() {
      if (!isOpen) return;
      isOpen = false;
      await withLock(home.lock, () => leave(home, ours));
    },
  };
};

interface Home {
  data: string;
  attached: string;
  lock: string;
  log: string;
  binaries: Binaries;
  access: Access;
  unprivileged: Unprivileged;
}

const openHome = async (dataDir: string): Promise<Home> => {
  const unprivileged = findUnprivileged();
  // As the user nobody, PostgreSQL reaches nothing below a private home: its files go where it can.
  const isNobody = unprivileged.ids.uid !== undefined;
  const root = isNobody ? join('/var/lib/svc', shortHash(dataDir)) : dataDir;
  const attached = join(dataDir, 'attached');
  await mkdir(attached, { recursive: true, mode: 0o700 });
  await mkdir(root, { recursive: true, mode: isNobody ? 0o755 : 0o700 });
  if (isNobody) await chown(root, unprivileged.ids.uid ?? -1, unprivileged.ids.gid ?? -1);
  const socketDir =
    Buffer.byteLength(root) <= socketPathMax ? root : join(tmpdir(), `svc-${shortHash(root)}`);
  await mkdir(socketDir, { recursive: true, mode: 0o700 });
  return {
    data: join(root, 'postgres'),
    attached,
    lock: join(dataDir, 'postgres.lock'),
    log: join(root, 'postgres.log'),
    binaries: await findBinaries(root),
    access: await openAccess(dataDir, socketDir),
    unprivileged,
  };
};

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Into a directory of another name first: one that was interrupted is never taken for a database. */
const initialise = async (home: Home): Promise<void> => {
  const unfinished = `${home.data}.init`;
  await rm(unfinished, { recursive: true, force: true });
  await run(home, 'initdb', [
    '-D',
    unfinished,
    '-U',
    'svc',
    '-E',
    'UTF8',
    '--no-locale',
    '-N',
    ...home.access.initdbArgs,
  ]);
  await rename(unfinished, home.data);
};

const start = async (home: Home): Promise<void> => {
  const deadline = performance.now() + startMs;
  let postgres: Promise<number | null> | undefined;
  while (!(await answers(home.access))) {
    if (performance.now() > deadline)
      throw await failure(home, `PostgreSQL did not start within ${startMs / 1000} s`);
    // A dying predecessor may still hold the data; then the new one ends at once and is tried again.
    postgres ??= spawnServer(home).finally(() => (postgres = undefined));
    await sleep(retryMs);
  }
};

const settings = [
  'fsync=on',
  'synchronous_commit=on',
  'full_page_writes=on',
  'max_connections=100',
  'shared_buffers=128MB',
];

/** Detached, so that a Ctrl-C in our terminal does not reach it. Resolves when it ends. */
const spawnServer = async (home: Home): Promise<number | null> => {
  const log = await open(home.log, 'a', 0o600);
  try {
    if (home.unprivileged.ids.uid !== undefined)
      await log.chown(home.unprivileged.ids.uid, home.unprivileged.ids.gid ?? -1);
    const args = [
      '-D',
      home.data,
      ...home.access.serverArgs,
      ...settings.flatMap((setting) => ['-c', setting]),
    ];
    const [command, all] = home.unprivileged.wrap(home.binaries.program('postgres'), args);
    const child = spawn(command, all, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: home.binaries.env,
      ...home.unprivileged.ids,
    });
    child.unref();
    return await new Promise((resolve, reject) => {
      child.once('exit', resolve);
      child.once('error', reject);
      child.once('spawn', () => void log.close());
    });
  } catch (cause) {
    await log.close().catch(() => undefined); // closed already when the process had started
    throw new Problem(
      'unavailable',
      `PostgreSQL cannot be started: ${(cause as Error).message}. Set DATABASE_URI to use another one`,
      { cause },
    );
  }
};

const run = async (home: Home, program: string, args: string[]): Promise<void> => {
  const [command, all] = home.unprivileged.wrap(home.binaries.program(program), args);
  const child = spawn(command, all, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: home.binaries.env,
    ...home.unprivileged.ids,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  if (code !== 0) throw new Problem('unavailable', `${program} failed (${code}): ${said.trim().slice(-600)}`);
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
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', startingUp].includes(code)) return false;
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
const leave = async (home: Home, ours: string): Promise<void> => {
  await rm(ours, { force: true });
  for (const name of await readdir(home.attached)) {
    const file = join(home.attached, name);
    const identity = await readFile(file, 'utf8').catch(() => '');
    if (await isAlive(identity)) return;
    await rm(file, { force: true });
  }
  const pid = await postmasterPid(home).catch(() => undefined);
  if (pid === undefined || !isRunning(pid)) return;
  if (process.platform === 'win32') return run(home, 'pg_ctl', ['stop', '-D', home.data, '-m', 'fast']);
  process.kill(pid, 'SIGINT'); // fast shutdown: ends sessions, writes a checkpoint
  const deadline = performance.now() + startMs;
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
