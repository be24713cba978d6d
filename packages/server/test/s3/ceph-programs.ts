// The programs of Ceph: a check that they are installed, and functions to run them.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingPrograms } from './availability.ts';

const run = promisify(execFile);

/** Throws an error with instructions when a program is missing. */
export const requireCeph = (): void => {
  const missing = missingPrograms();
  if (missing.length > 0)
    throw new Error(
      `This test writes to a real S3, the gateway of Ceph, and this machine has no ${missing.join(', ')}. ` +
        'Install it with scripts/install-test-programs.sh s3, or set SVC_TEST_S3=off to leave such tests out.',
    );
};

/** Runs a program of a cluster to its end and returns its output. */
export const runCeph = async (
  folder: string,
  program: string,
  args: readonly string[],
  { signal, input }: { signal?: AbortSignal; input?: string } = {},
): Promise<string> => {
  const ended = run(program, [...args], {
    cwd: folder,
    env: cephEnv(folder),
    timeout: 60_000,
    killSignal: 'SIGKILL',
    maxBuffer: 16 * 1024 * 1024,
    ...(signal ? { signal } : {}),
  });
  // A program that exits before it reads its input reports the reason by its exit code; most get no input.
  ended.child.stdin?.on('error', () => undefined);
  ended.child.stdin?.end(input);
  return (await ended).stdout;
};

/** A program that runs until it is killed, or this process ends. */
export class Daemon implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #output = '';

  constructor(folder: string, name: string, args: readonly string[]) {
    this.name = name;
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', name, '-f', ...args], {
      cwd: folder,
      env: cephEnv(folder),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output = (this.#output + chunk).slice(-2_000);
    });
    this.#exit = once(this.#child, 'exit').catch((error: Error) => (this.#output = error.message));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Throws when the daemon has ended. */
  check(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error(`${this.name} has ended: ${this.#output}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}

const cephEnv = (folder: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  CEPH_CONF: join(folder, 'ceph.conf'),
  TMPDIR: folder,
});
