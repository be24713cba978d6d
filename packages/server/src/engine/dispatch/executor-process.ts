// The server process's side of one executor: starts it, sends orders, receives its messages, notices its end.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Problem, type ProblemCode } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { executorEnvironment } from '../../config/environment.ts';
import { SpawnedProcess } from '../../jobs/spawned-process.ts';
import { parseFromExecutor } from './executor-message.ts';
import type {
  AttemptMessage,
  ExecutorSetup,
  FromExecutor,
  IntrospectCommand,
  RunCommand,
  StopReason,
  ToExecutor,
  UpdateStateCommand,
} from './protocol.ts';

/** An attempt: a run under one of its lease tokens. */
export interface AttemptRef {
  run_id: string;
  lease_token: number;
}

export interface ExecutorEvents {
  onRun: (message: AttemptMessage) => void;
  /** Called with files of modules that the process loaded. */
  onModules: (files: string[]) => void;
  /** The process has ended; `running` are the attempts it had. Deliberate: not by what they did. */
  onExit: (running: AttemptRef[], reason: string, isDeliberate: boolean) => void;
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** How long an executor that is stopped may take to store its traces. */
const flushMsMax = 5_000;

/** Whether nothing follows the message. */
export const endsAttempt = ({ kind }: AttemptMessage): boolean => kind === 'done' || kind === 'lost';

const keyOf = ({ run_id, lease_token }: AttemptRef): string => `${run_id} ${lease_token}`;

/** The same path from src/runtime and from dist/runtime. */
const entry = fileURLToPath(new URL('../../../bin/executor.js', import.meta.url));

/** Node 22 has the faster AsyncLocalStorage behind a flag; from 24 on it is the default. */
const execArgv = process.versions.node.startsWith('22.') ? ['--experimental-async-context-frame'] : [];

export class ExecutorProcess {
  /** By run and token. */
  readonly attempts = new Map<string, AttemptRef>();
  readonly ready: Promise<void>;
  isReady = false;
  /** Whether the modules of all graphs are loaded, or cannot be: the first run need not wait for them. */
  isLoaded = false;
  readonly #child: SpawnedProcess;
  readonly #events: ExecutorEvents;
  readonly #logger: Logger;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #calls = 0;
  #gone = false;
  #isKilled = false;
  #hasSentNonsense = false;
  #becomeReady!: () => void;
  readonly #isTracing: boolean;
  /** What is sent once the process may begin; undefined when it may. */
  #held: ToExecutor[] | undefined;

  /** `isHeld`: connects to no database and runs nothing until begin(). */
  constructor(setup: ExecutorSetup, events: ExecutorEvents, logger: Logger, { isHeld = false } = {}) {
    if (isHeld) this.#held = [];
    this.#events = events;
    this.#logger = logger;
    this.#isTracing = setup.tracing !== undefined;
    let fail!: (error: Error) => void;
    this.ready = new Promise((resolve, reject) => ([this.#becomeReady, fail] = [resolve, reject]));
    let exited!: () => void;
    this.#exited = new Promise((resolve) => (exited = resolve));
    this.#child = new SpawnedProcess({
      program: entry,
      execArgv,
      env: executorEnvironment(),
      onMessage: (message) => this.#receive(message),
      onEnd: (reason) => {
        fail(new Problem('unavailable', `An executor ended before it was ready (${reason})`));
        this.#end(reason);
        exited();
      },
    });
    // Callers that wait for readiness get the error; without one there is nobody to report it to.
    this.ready.catch(() => undefined);
    this.#send({ kind: 'setup', setup });
  }

  get isAlive(): boolean {
    return !this.#gone;
  }

  begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#send(message);
  }

  run(command: RunCommand): void {
    const { run_id, lease_token } = command;
    this.attempts.set(keyOf(command), { run_id, lease_token });
    this.#send({ kind: 'run', command });
  }

  cancel({ run_id, lease_token }: AttemptRef, why: StopReason): void {
    this.#send({ kind: 'cancel', run_id, lease_token, why });
  }

  listen({ run_id, lease_token }: AttemptRef, logged: boolean): void {
    this.#send({ kind: 'listen', run_id, lease_token, logged });
  }

  unlisten({ run_id, lease_token }: AttemptRef): void {
    this.#send({ kind: 'unlisten', run_id, lease_token });
  }

  acknowledge({ run_id, lease_token }: AttemptRef, bytes: number): void {
    this.#send({ kind: 'ack', run_id, lease_token, bytes });
  }

  update(command: UpdateStateCommand): Promise<unknown> {
    return this.#call((call) => ({ kind: 'update', call, command }));
  }

  /** Rejects when the process ends before. */
  async load(): Promise<void> {
    await this.#call((call) => ({ kind: 'load', call }));
    this.isLoaded = true;
  }

  introspect(command: IntrospectCommand): Promise<unknown> {
    return this.#call((call) => ({ kind: 'introspect', call, command }));
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    this.#isKilled = true;
    this.#child.kill();
  }

  /** Ends the process once it has stored its traces, or has had its time for that. */
  async stop(): Promise<void> {
    this.#isKilled = true;
    if (this.#isTracing && this.isReady && !this.#gone) {
      const timeout = new AbortController();
      const late = sleep(flushMsMax, undefined, { signal: timeout.signal }).catch(() => undefined);
      await Promise.race([this.#call((call) => ({ kind: 'flush', call })).catch(() => undefined), late]);
      timeout.abort();
    }
    this.kill();
    await this.#exited;
  }

  #call(message: (call: number) => ToExecutor): Promise<unknown> {
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#send(message(call));
    });
  }

  #send(message: ToExecutor): void {
    if (this.#held) this.#held.push(message);
    else this.#child.send(message);
  }

  #receive(value: unknown): void {
    const message = parseFromExecutor(value);
    if (message === undefined) {
      if (!this.#hasSentNonsense)
        this.#logger.error({ pid: this.#child.pid }, 'executor sent an unknown message');
      this.#hasSentNonsense = true;
    } else if (message.kind === 'ready') {
      this.isReady = true;
      this.#becomeReady();
    } else if (message.kind === 'answer') this.#answer(message);
    else if (message.kind === 'modules') this.#events.onModules(message.files);
    else this.#run(message);
  }

  #run(message: AttemptMessage): void {
    if (endsAttempt(message)) this.attempts.delete(keyOf(message));
    this.#events.onRun(message);
  }

  #answer({ call, value, problem }: Extract<FromExecutor, { kind: 'answer' }>): void {
    const waiting = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (problem) waiting?.reject(new Problem(problem.code as ProblemCode, problem.message));
    else waiting?.resolve(value);
  }

  #end(reason: string): void {
    if (this.#gone) return;
    this.#gone = true;
    const lost = new Problem('unavailable', `The executor ended while it worked on this (${reason})`);
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
    // One that never began has not met its runs.
    this.#events.onExit([...this.attempts.values()], reason, this.#isKilled || !this.isReady);
  }
}
