// A child process of Node that does work for the server, such as an executor or an exporter.
import { spawn, type ChildProcess } from 'node:child_process';
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ChannelProcess } from './channel-process.ts';
import { clones } from './process-channel.ts';

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

/** `Command`: messages to the process. `Message`: messages from it. */
export class ProgramProcess<Command, Message extends { kind: string }> extends ChannelProcess<
  unknown,
  unknown,
  void
> {
  isReady = false;
  readonly #options: ProgramProcessOptions<Message>;
  #hasSentUnknown = false;

  constructor(options: ProgramProcessOptions<Message>) {
    super(options.started ?? launchProgram(options), clones);
    this.#options = options;
  }

  /** A message that cannot be delivered is dropped: onEnd follows. */
  send(message: Command): void {
    this.sendMessage(message);
  }

  protected override onMessage(value: unknown): void {
    const { name, parse, onMessage, logger } = this.#options;
    const message = parse(value);
    if (message === undefined) {
      if (!this.#hasSentUnknown) logger.error({ pid: this.pid }, `${name} sent an unknown message`);
      this.#hasSentUnknown = true;
    } else if (message.kind === 'ready') {
      this.isReady = true;
      this.becomeReady();
    } else onMessage(message as Exclude<Message, Ready>);
  }

  protected override onEnded(reason: string): void {
    this.#options.onEnd(reason);
  }

  protected override endError(reason: string): Problem {
    return new Problem('unavailable', `The ${this.#options.name} ended before it was ready (${reason})`);
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
