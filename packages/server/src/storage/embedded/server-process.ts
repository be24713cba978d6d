// The processes of PostgreSQL: initdb, and the server itself.
import { spawn } from 'node:child_process';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Problem } from '@svc/contract/problem';
import { openClaim } from './claim.ts';
import type { Home } from './home.ts';

/** Into a directory of another name first: one that was interrupted is never taken for a database. */
export const initialise = async (home: Home): Promise<void> => {
  const unfinished = `${home.data}.init`;
  await rm(unfinished, { recursive: true, force: true });
  const args = ['-D', unfinished, '-U', 'svc', '-E', 'UTF8', '--no-locale', ...home.access.initdbArgs];
  await run(home, 'initdb', args);
  await rename(unfinished, home.data);
  await syncDirectory(dirname(home.data));
};

/** A rename outlives a power cut once its directory is on the disk. */
const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return; // which cannot open a directory
  await using directory = await open(path);
  await directory.sync();
};

const settings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=128MB'];

export interface ServerProcess {
  hasEnded(): boolean;
  /** Asks it to shut down. */
  stop(): void;
  /** What it has written to its log. */
  said(): Promise<string>;
}

/** Detached, so that a Ctrl-C in our terminal does not reach it, and it outlives us. Undefined while another one holds the data. */
export const spawnServer = async (home: Home): Promise<ServerProcess | undefined> => {
  await using claim = await openClaim(home.claim);
  if (claim.state === 'held') return undefined;
  await using log = await open(home.log, 'a', 0o600);
  const { uid, gid } = home.unprivileged.ids;
  if (uid !== undefined && gid !== undefined) await log.chown(uid, gid);
  const { size } = await log.stat();
  const args = [
    '-D',
    home.data,
    ...home.access.serverArgs,
    ...[...settings, `max_connections=${home.connectionsMax}`].flatMap((setting) => ['-c', setting]),
  ];
  const [command, all] = home.unprivileged.wrap(home.binaries.program('postgres'), args);
  const child = spawn(command, all, {
    detached: true,
    // All of its processes hold the lock, for as long as any of them runs.
    stdio: ['ignore', log.fd, log.fd, ...(claim.state === 'taken' ? [claim.fd] : [])],
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
          `PostgreSQL cannot be started: ${cause.message}. Set DATABASE_URI to use another one`,
          { cause },
        ),
      ),
    );
  });
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    stop: () => void child.kill('SIGINT'),
    said: async () => (await readFile(home.log)).subarray(size).toString(),
  };
};

/** Runs a program to its end. */
export const run = async (home: Home, program: string, args: string[]): Promise<void> => {
  const [command, all] = home.unprivileged.wrap(home.binaries.program(program), args);
  const child = spawn(command, all, {
    // Not to be interrupted half way by a Ctrl-C that we take as a wish to stop in good order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: home.binaries.env,
    cwd: '/',
    ...home.unprivileged.ids,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (cause) =>
      reject(new Problem('unavailable', `${program} cannot be started: ${cause.message}`, { cause })),
    );
  });
  if (code !== 0) throw new Problem('unavailable', `${program} failed (${code}): ${said.trim().slice(-600)}`);
};
