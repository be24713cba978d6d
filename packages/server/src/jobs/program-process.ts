// A child process that does work for the server, such as an executor or an exporter, with a private channel to it.
//
//   started ──'ready'──▶ ready ──kill(), its own exit, or a broken channel──▶ ended
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { channelFd, ProcessChannel } from './process-channel.ts';

/** How a process is started. */
export interface ProgramLaunch {
  /** Path of the module that it runs. */
  program: string;
  /** Arguments of the program. */
  args?: readonly string[];
  execArgv?: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface ProgramProcessOptions<Message> extends ProgramLaunch {
  /** Name of the kind of process, for logs and errors. */
  name: string;
  /** A process that launchProgram() has started with the same program. Without it, one is started. */
  started?: ChildProcess | undefined;
  /** The message; undefined when the value is not a valid message. */
  parse: (value: unknown) => Message | undefined;
  /** Messages other than `ready`. */
  onMessage: (message: Exclude<Message, Ready>) => void;
  /** Called once, after the last message, when the process has ended or could not be started. */
  onEnd: (reason: string) => void;
  logger: Pick<Logger, 'error'>;
}

interface Ready {
  kind: 'ready';
}

/** Starts a process that waits for its first message. */
export const launchProgram = ({ program, args = [], execArgv = [], env }: ProgramLaunch): ChildProcess =>
  spawn(process.execPath, [...execArgv, program, ...args], {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });

/** How long to wait, after the exit of a process, for its channel to close: a child of the process may hold the other end. */
const closingMsMax = 1_000;

/** `Command`: messages to the process. `Message`: messages from it. */
export class ProgramProcess<Command, Message extends { kind: string }> {
  /** Rejects with `unavailable` when the process ends before it is ready. */
  readonly ready: Promise<void>;
  isReady = false;
  readonly #options: ProgramProcessOptions<Message>;
  readonly #child: ChildProcess;
  /** Undefined when the process could not be started because no file descriptors were left: an 'error' event follows. */
  readonly #channel: ProcessChannel | undefined;
  readonly #ended: Promise<void>;
  #exit: string | undefined;
  #broken: string | undefined;
  #isChannelClosed = false;
  #hasEnded = false;
  #hasSentUnknown = false;
  #becomeReady!: () => void;
  #failReady!: (error: Problem) => void;
  #resolveEnded!: () => void;

  constructor(options: ProgramProcessOptions<Message>) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#becomeReady = resolve;
      this.#failReady = reject;
    });
    // Without a caller that waits for it, the rejection is reported by onEnd alone.
    this.ready.catch(() => undefined);
    this.#ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#child = options.started ?? launchProgram(options);
    const socket = (this.#child.stdio as ChildProcess['stdio'] | undefined)?.[channelFd] as
      | Socket
      | undefined;
    this.#channel =
      socket &&
      new ProcessChannel(socket, {
        onMessage: (value) => this.#receive(value),
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

  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /** A message that cannot be delivered is dropped: onEnd follows. */
  send(message: Command): void {
    this.#channel?.send(message);
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
  }

  /** Ends the process and resolves when it has ended. */
  async end(): Promise<void> {
    this.kill();
    await this.#ended;
  }

  #receive(value: unknown): void {
    const { name, parse, onMessage, logger } = this.#options;
    const message = parse(value);
    if (message === undefined) {
      if (!this.#hasSentUnknown) logger.error({ pid: this.pid }, `${name} sent an unknown message`);
      this.#hasSentUnknown = true;
    } else if (message.kind === 'ready') {
      this.isReady = true;
      this.#becomeReady();
    } else onMessage(message as Exclude<Message, Ready>);
  }

  #onExit(reason: string): void {
    this.#exit ??= reason;
    if (this.#isChannelClosed || !this.#channel) return this.#end();
    setTimeout(() => this.#end(), closingMsMax).unref();
  }

  /** A process without its channel is useless: it ends itself, or is killed. */
  #onChannelClosed(broken: string | undefined): void {
    this.#isChannelClosed = true;
    if (broken !== undefined) this.#broken = `it wrote to the server's channel: ${broken}`;
    if (this.#exit === undefined) this.#child.kill('SIGKILL');
    else this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#channel?.close();
    const reason = this.#broken ?? this.#exit ?? '';
    this.#failReady(
      new Problem('unavailable', `The ${this.#options.name} ended before it was ready (${reason})`),
    );
    this.#options.onEnd(reason);
    this.#resolveEnded();
  }
}

// Processes that are started before their work is known: they load their modules while the server opens its database.
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
