// examples/embed-next as a Next application: its files, the server as it is published, and an installation of Next.
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../server/test/eventually.ts';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const next = pathOf('./node_modules/next/dist/bin/next');

/** Without variables of the test process: `NODE_ENV=test` changes what Next builds. */
const environment = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NEXT_TELEMETRY_DISABLED: '1',
  SESSION_SECRET: 'a secret of tests',
  SVC_EXECUTORS: '1',
  SVC_LOG_LEVEL: 'error',
};

/** The cookie of a session, as the application signs it. */
export const sessionOf = (name: string): { cookie: string } => {
  const signature = createHmac('sha256', environment.SESSION_SECRET).update(name).digest('hex');
  return { cookie: `session=${name}.${signature}` };
};

export interface Application extends AsyncDisposable {
  /** `next start`, as the script of the example calls it. */
  start(): Promise<Started>;
}

export interface Started extends AsyncDisposable {
  url: string;
  /** Where the application keeps the data of its PostgreSQL. */
  dataDir: string;
  /** Sends SIGTERM, and resolves with the exit code. */
  terminate(): Promise<number | null>;
}

/** Builds the application. */
export const buildApplication = async (): Promise<Application> => {
  // Below the packages of Next, and of this repository: the application finds both.
  const dir = await mkdtemp(pathOf('./tmp-'));
  const remove = () => rm(dir, { recursive: true, force: true });
  try {
    await cp(pathOf('../../../examples/embed-next'), dir, { recursive: true });
    // Next bundles the sources of workspaces, so the packages are copied as they are installed.
    for (const name of ['server', 'sdk', 'contract', 'conformance'])
      await cp(pathOf(`../../../build/packages/${name}`), join(dir, 'node_modules/@svc', name), {
        recursive: true,
      });
    await promisify(execFile)(process.execPath, [next, 'build'], { cwd: dir, env: environment });
  } catch (error) {
    await remove();
    throw error;
  }
  return { start: () => start(dir), [Symbol.asyncDispose]: remove };
};

const start = async (cwd: string): Promise<Started> => {
  const dataDir = join(cwd, 'data');
  const child = spawn(process.execPath, [next, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
    cwd,
    detached: true, // a process group of its own, so that all of it can be killed at once
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment, NEXT_MANUAL_SIG_HANDLE: 'true', SVC_DATA_DIR: dataDir },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded()) return;
    const ended = once(child, 'exit');
    process.kill(signal === 'SIGKILL' ? -child.pid! : child.pid!, signal);
    await ended;
  };
  try {
    const url = await eventually(() => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (found === undefined || !output.includes('Ready')) throw new Error(`Next did not start: ${output}`);
      return found;
    });
    return {
      url,
      dataDir,
      terminate: () => stop('SIGTERM').then(() => child.exitCode),
      [Symbol.asyncDispose]: () => stop('SIGKILL'),
    };
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
};
