// Starts the programs of PostgreSQL: initdb and the server.
import { spawn } from 'node:child_process';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { flushFolder } from '../flush-folder.ts';
import { openKernelLock } from './kernel-lock.ts';
import type { Home } from './home.ts';

/** Creates the data directory under a temporary name first, so that an interrupted initdb is never taken for a database. */
export const initialise = async (home: Home): Promise<void> => {
  const unfinished = `${home.data}.init`;
  await rm(unfinished, { recursive: true, force: true });
  const args = ['-D', unfinished, '-U', 'svc', '-E', 'UTF8', '--no-locale', ...home.address.initdbArgs];
  await run(home, 'initdb', args);
  await rename(unfinished, home.data);
  await flushFolder(dirname(home.data));
};

const settings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=128MB'];

export interface ServerProcess {
  hasEnded(): boolean;
  /** Requests a fast shutdown. */
  stop(): void;
  /** What the server has written to its log since its start. */
  output(): Promise<string>;
}

/** Starts the server detached, so that Ctrl-C does not reach it and it survives svc. Undefined while another server holds the data. */
export const spawnServer = async (home: Home): Promise<ServerProcess | undefined> => {
  await using lock = await openKernelLock(home.lockFile);
  if (lock.state === 'held') return undefined;
  await using log = await open(home.log, 'a', 0o600);
  const { uid, gid } = home.unprivileged.ids;
  if (uid !== undefined && gid !== undefined) await log.chown(uid, gid);
  const { size } = await log.stat();
  const args = [
    '-D',
    home.data,
    ...home.address.serverArgs,
    ...[...settings, `max_connections=${home.connectionsMax}`].flatMap((setting) => ['-c', setting]),
  ];
  const [command, all] = home.unprivileged.wrap(home.binaries.program('postgres'), args);
  const child = spawn(command, all, {
    detached: true,
    // All processes of the server inherit the lock.
    stdio: ['ignore', log.fd, log.fd, ...(lock.state === 'taken' ? [lock.fd] : [])],
    env: home.binaries.env,
    cwd: '/',
    ...home.unprivileged.ids,
  });
  child.unref();
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) =>
      reject(
        new Problem(
          'unavailable',
          `PostgreSQL cannot be started: ${cause.message}. Set DATABASE_URI to use another server`,
          { cause },
        ),
      ),
    );
  });
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: () => void child.kill('SIGINT'),
    output: async () => (await readFile(home.log)).subarray(size).toString(),
  };
};

/** Runs a program until it ends. */
export const run = async (home: Home, program: string, args: string[]): Promise<void> => {
  const [command, all] = home.unprivileged.wrap(home.binaries.program(program), args);
  const child = spawn(command, all, {
    // Detached: Ctrl-C, which requests a clean stop of svc, must not interrupt the program.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: home.binaries.env,
    cwd: '/',
    ...home.unprivileged.ids,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (cause) =>
      reject(new Problem('unavailable', `${program} cannot be started: ${cause.message}`, { cause })),
    );
  });
  if (code !== 0)
    throw new Problem('unavailable', `${program} failed (${code}): ${output.trim().slice(-600)}`);
};
