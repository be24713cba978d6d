// A Node process that the server starts for work of its own, with a private channel to it.
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { channelFd, ProcessChannel } from './process-channel.ts';

export interface SpawnOptions {
  /** Path of the module that it runs. */
  program: string;
  execArgv?: readonly string[];
  env: Readonly<Record<string, string>>;
  onMessage: (message: unknown) => void;
  /** Once, after its last message: the process has ended, or could not be started. */
  onEnd: (reason: string) => void;
}

/** How long to wait for the end of the channel of a process that has ended: a child of it may hold the other end. */
const closingMsMax = 1_000;

export class SpawnedProcess {
  readonly #child: ChildProcess;
  /** Undefined when there were no descriptors left to start the process with: its 'error' follows. */
  readonly #channel: ProcessChannel | undefined;
  readonly #onEnd: (reason: string) => void;
  #exit: string | undefined;
  #broken: string | undefined;
  #isChannelClosed = false;
  #isOver = false;

  constructor({ program, execArgv = [], env, onMessage, onEnd }: SpawnOptions) {
    this.#onEnd = onEnd;
    this.#child = spawn(process.execPath, [...execArgv, program], {
      env,
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const socket = (this.#child.stdio as ChildProcess['stdio'] | undefined)?.[channelFd] as
      | Socket
      | undefined;
    this.#channel =
      socket &&
      new ProcessChannel(socket, {
        onMessage,
        onClose: (broken) => this.#onChannelClosed(broken?.message),
      });
    this.#child.once('exit', (code, signal) =>
      this.#onExit(signal ? `signal ${signal}` : `exit code ${code}`),
    );
    this.#child.once('error', (error) => this.#onExit(error.message));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** A message that cannot be delivered is dropped: the end of the process tells what was lost. */
  send(message: unknown): void {
    this.#channel?.send(message);
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
  }

  #onExit(reason: string): void {
    this.#exit ??= reason;
    if (this.#isChannelClosed || !this.#channel) return this.#end();
    setTimeout(() => this.#end(), closingMsMax).unref();
  }

  /** Without its channel the process is of no use: it ends itself, or is made to. */
  #onChannelClosed(broken: string | undefined): void {
    this.#isChannelClosed = true;
    if (broken !== undefined) this.#broken = `it wrote to the server's channel: ${broken}`;
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    else this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#channel?.close();
    this.#onEnd(this.#broken ?? this.#exit ?? '');
  }
}
