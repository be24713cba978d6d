// The programs of Ceph: whether they are here, and how they are run.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { missingPrograms } from './availability.ts';

const run = promisify(execFile);
/** Throws a sentence that says what to do where one of them is missing. */
export const requireCeph = (): void => {
  const missing = missingPrograms();
  if (missing.length > 0)
    throw new Error(
      `This test writes to a real S3, the gateway of Ceph, and this machine has no ${missing.join(', ')}. ` +
        'Install it with scripts/install-ceph.sh, or set SVC_TEST_S3=off to leave such tests out.',
    );
};

/** Runs a program of a cluster to its end; what it printed. */
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
  // One that ends without reading says by its exit what became of it; most are given nothing to read.
  ended.child.stdin?.on('error', () => undefined);
  ended.child.stdin?.end(input);
  return (await ended).stdout;
};

/** A program that runs until it is killed, or this process ends, however it does. */
export class Daemon implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #said = '';

  constructor(folder: string, name: string, args: readonly string[]) {
    this.name = name;
    this.#child = spawn('setpriv', ['--pdeathsig', 'KILL', name, '-f', ...args], {
      cwd: folder,
      env: cephEnv(folder),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#said = (this.#said + chunk).slice(-2_000);
    });
    this.#exit = once(this.#child, 'exit').catch((error: Error) => (this.#said = error.message));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Throws when it has ended. */
  check(): void {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error(`${this.name} has ended: ${this.#said}`);
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
