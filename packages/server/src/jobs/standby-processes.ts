// Processes that are started before their work is known: they load their modules while the server opens its database.
import type { ChildProcess } from 'node:child_process';
import { launchProgram, type ProgramLaunch } from './program-process.ts';

export class StandbyProcesses implements AsyncDisposable {
  readonly #waiting: ChildProcess[];

  constructor(program: ProgramLaunch, count: number) {
    this.#waiting = Array.from({ length: count }, () => {
      const child = launchProgram(program);
      child.once('error', () => undefined); // take() skips it
      return child;
    });
  }

  /** Returns a process that runs, for a ProgramProcess, which ends it; undefined when none is left. */
  take(): ChildProcess | undefined {
    for (;;) {
      const child = this.#waiting.shift();
      if (!child || isRunning(child)) return child;
    }
  }

  /** Ends the processes that were not taken. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#waiting.splice(0).map(end));
  }
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

const end = async (child: ChildProcess): Promise<void> => {
  if (!isRunning(child)) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
};
