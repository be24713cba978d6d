// The real command in a process of its own, and a way to kill everything that it started.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from '../../src/config/settings/limits.ts';
import { limitedServer } from '../limited-program.ts';
import { svcCommand } from '../svc-command.ts';
import { isRunning } from '../../src/config/process-identity.ts';
import { scaled } from '../speed.ts';

export interface SvcProcess {
  url: string;
  child: ChildProcess;
  /** kill -9 for the server, its executors and PostgreSQL with all its processes. */
  killAll(): Promise<void>;
}

export const startSvc = async (
  dataDir: string,
  project: string,
  { port = '0', lease = '1s', limits }: { port?: string; lease?: string; limits?: Partial<Limits> } = {},
): Promise<SvcProcess> => {
  const args = limits
    ? limitedServer({ limits, configPath: project, flags: { dataDir, port, executors: '1' } })
    : [svcCommand, 'start', '--config', project, '--data-dir', dataDir, '--port', port, '--executors', '1'];
  const child = spawn(process.execPath, args, {
    detached: true, // a process group of its own, so that all of it can be killed at once
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SVC_LOG_LEVEL: 'error', SVC_LEASE: lease },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const deadline = performance.now() + scaled(60_000);
  for (;;) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
    if (url) return { url, child, killAll: () => killAll(child, dataDir) };
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`svc did not start: ${output}`);
    await sleep(5);
  }
};

const killAll = async (child: ChildProcess, dataDir: string): Promise<void> => {
  const file = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const postmaster = Number(file.split('\n')[0]);
  for (const pid of [child.pid, postmaster]) if (pid) killGroup(pid);
  while (child.exitCode === null && child.signalCode === null) await sleep(2);
  while (postmaster && isRunning(postmaster)) await sleep(2);
};

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
