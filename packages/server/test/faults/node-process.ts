// The real command with a role, on a database; it can be killed, frozen or stopped, completely or in part.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { childrenOf, signal } from './process-tree.ts';
import type { Limits } from '../../src/config/settings/limits.ts';
import { limitedServer } from '../limited-program.ts';
import { svcCommand } from '../svc-command.ts';

export type Role = 'all' | 'api' | 'worker';

/** The program of a node and the project that it serves. */
export interface Release {
  /** The path of svc.js. */
  command: string;
  /** The path of svc.json, whose modules load the engine that this release uses. */
  project: string;
}

export interface NodeOptions {
  /** The application_name of its connections. */
  name: string;
  /** Empty: an embedded PostgreSQL. */
  databaseUri: string;
  role?: Role;
  executors?: number;
  /** This release by default. */
  release?: Release;
  /** Environment variables in addition to those of all test nodes. */
  env?: Record<string, string>;
  /** Only for this release. */
  limits?: Partial<Limits>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SvcNode extends AsyncDisposable {
  readonly name: string;
  readonly role: Role;
  /** The pid of the server process. */
  readonly pid: number;
  /** Empty for a role that serves no clients. */
  readonly url: string;
  readonly exit: Promise<Exit>;
  isRunning(): boolean;
  /** Everything that it has printed. */
  output(): string;
  executors(): number[];
  /** kill -9 for the server and its executors. */
  kill(): Promise<void>;
  /** kill -9 for the server process only. */
  killServer(): Promise<void>;
  /** kill -9 for one executor. */
  killExecutor(): void;
  /** SIGSTOP for all of its processes; thaw() resumes them. */
  freeze(): void;
  thaw(): void;
  /** The stop signal. */
  terminate(): void;
}

/** The release of this checkout. */
export const thisRelease: Release = {
  command: svcCommand,
  project: fileURLToPath(new URL('./graphs/svc.json', import.meta.url)),
};
const startMs = 60_000;

/** Short enough for a test to wait for their effects, and long enough for a busy machine to renew a lease. */
export const leaseMs = 2_000;
const settings = {
  SVC_LOG_LEVEL: 'warn',
  SVC_LOG_FORMAT: 'json',
  SVC_LEASE: `${leaseMs}ms`,
  SVC_SHUTDOWN_GRACE: '10s',
  SVC_STREAM_TTL: '1h',
  SVC_N_JOBS_PER_WORKER: '10',
};

/** Resolves when the node serves. */
export const startNode = async ({
  name,
  databaseUri,
  role = 'all',
  executors = 1,
  release: { command, project } = thisRelease,
  env = {},
  limits,
}: NodeOptions): Promise<SvcNode> => {
  const dataDir = join(inject('scratch'), 'nodes', name);
  const args = ['start', '--config', project, '--data-dir', dataDir, '--port', '0'];
  const more = ['--executors', String(executors), ...(role === 'all' ? [] : ['--role', role])];
  const flags = { dataDir, port: '0', executors: String(executors), role };
  const child = spawn(
    process.execPath,
    limits ? limitedServer({ limits, configPath: project, flags }) : [command, ...args, ...more],
    {
      detached: true, // a process group of its own, so that all of it can be killed at once
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        ...settings,
        ...env,
        SVC_DATABASE_URI: databaseUri,
      },
    },
  );
  const node = new NodeProcess(name, role, child);
  const note = await notePid(node.pid);
  try {
    await node.untilServing();
  } catch (error) {
    await node.kill();
    throw error;
  } finally {
    void node.exit.then(() => rm(note, { force: true }));
  }
  return node;
};

/** Registers the process group with the guard of the test run, which kills it when the test is interrupted. */
const notePid = async (pid: number): Promise<string> => {
  const folder = join(inject('scratch'), 'groups');
  await mkdir(folder, { recursive: true });
  const file = join(folder, String(pid));
  await writeFile(file, '');
  return file;
};

class NodeProcess implements SvcNode {
  readonly name: string;
  readonly role: Role;
  readonly pid: number;
  readonly exit: Promise<Exit>;
  url = '';
  readonly #child: ChildProcess;
  #output = '';

  constructor(name: string, role: Role, child: ChildProcess) {
    this.name = name;
    this.role = role;
    this.#child = child;
    this.pid = child.pid ?? 0;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.#output += chunk));
    this.exit = new Promise((resolve) => {
      child.once('exit', (code, name) => resolve({ code, signal: name }));
    });
  }

  async untilServing(): Promise<void> {
    const deadline = performance.now() + startMs;
    while (!/^svc \d/m.test(this.#output) || !/^Try it|Executors/m.test(this.#output)) {
      if (!this.isRunning() || performance.now() > deadline)
        throw new Error(`${this.name} did not start: ${this.#output}`);
      await sleep(5);
    }
    this.url = /http:\/\/127\.0\.0\.1:\d+/.exec(this.#output)?.[0] ?? '';
  }

  isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  output(): string {
    return this.#output;
  }

  executors(): number[] {
    return childrenOf(this.pid, 'executor.js');
  }

  async kill(): Promise<void> {
    signal(-this.pid, 'SIGKILL');
    await this.exit;
  }

  async killServer(): Promise<void> {
    signal(this.pid, 'SIGKILL');
    await this.exit;
  }

  killExecutor(): void {
    const [pid] = this.executors();
    if (pid === undefined) throw new Error(`${this.name} has no executor to kill`);
    signal(pid, 'SIGKILL');
  }

  freeze(): void {
    signal(-this.pid, 'SIGSTOP');
  }

  thaw(): void {
    signal(-this.pid, 'SIGCONT');
  }

  terminate(): void {
    signal(this.pid, 'SIGTERM');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
