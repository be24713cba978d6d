// The server process's side of one executor: fork, send orders, receive what comes back, notice its end.
import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Problem, type ProblemCode } from '@svc/contract/problem';
import { executorEnvironment } from '../config/env.ts';
import type {
  AttemptMessage,
  ExecutorSetup,
  FromExecutor,
  IntrospectOrder,
  RunCommand,
  StopReason,
  ToExecutor,
  UpdateOrder,
} from './protocol.ts';

/** An attempt: a run under one of its lease tokens. */
export interface AttemptRef {
  run_id: string;
  lease_token: number;
}

export interface ExecutorEvents {
  onRun: (message: AttemptMessage) => void;
  /** The process has ended; `running` are the attempts it had. Deliberate: not by what they did. */
  onExit: (running: AttemptRef[], reason: string, isDeliberate: boolean) => void;
}

interface Waiting {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** How long an executor that is stopped may take to store its traces. */
const flushMsMax = 1_000;

const keyOf = ({ run_id, lease_token }: AttemptRef): string => `${run_id} ${lease_token}`;

/** The same path from src/runtime and from dist/runtime. */
const entry = fileURLToPath(new URL('../../bin/executor.js', import.meta.url));

/** Node 22 has the faster AsyncLocalStorage behind a flag; from 24 on it is the default. */
const execArgv = process.versions.node.startsWith('22.') ? ['--experimental-async-context-frame'] : [];

export class ExecutorProcess {
  /** By run and token. */
  readonly attempts = new Map<string, AttemptRef>();
  readonly ready: Promise<void>;
  isReady = false;
  readonly #child: ChildProcess;
  readonly #events: ExecutorEvents;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #calls = 0;
  #gone = false;
  #isKilled = false;
  readonly #isTracing: boolean;

  constructor(setup: ExecutorSetup, events: ExecutorEvents) {
    this.#events = events;
    this.#isTracing = setup.tracing !== undefined;
    this.#child = fork(entry, [], {
      execArgv,
      env: executorEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let becomeReady!: () => void;
    let fail!: (error: Error) => void;
    this.ready = new Promise((resolve, reject) => ([becomeReady, fail] = [resolve, reject]));
    this.#child.on('message', (message: FromExecutor) => {
      if (message.kind === 'ready') {
        this.isReady = true;
        becomeReady();
      } else if (message.kind === 'answer') this.#answer(message);
      else this.#run(message);
    });
    this.#exited = new Promise((resolve) => {
      const onEnd = (reason: string) => {
        fail(new Problem('unavailable', `An executor ended before it was ready (${reason})`));
        this.#end(reason);
        resolve();
      };
      this.#child.once('exit', (code, signal) => onEnd(signal ? `signal ${signal}` : `exit code ${code}`));
      this.#child.once('error', (error) => onEnd(error.message));
    });
    // Whoever waits for readiness hears of it; nobody else has to.
    this.ready.catch(() => undefined);
    this.#send({ kind: 'setup', setup });
  }

  get isAlive(): boolean {
    return !this.#gone;
  }

  run(order: RunCommand): void {
    const { run_id, lease_token } = order;
    this.attempts.set(keyOf(order), { run_id, lease_token });
    this.#send({ kind: 'run', order });
  }

  cancel({ run_id, lease_token }: AttemptRef, why: StopReason): void {
    this.#send({ kind: 'cancel', run_id, lease_token, why });
  }

  listen({ run_id, lease_token }: AttemptRef, logged: boolean): void {
    this.#send({ kind: 'listen', run_id, lease_token, logged });
  }

  update(order: UpdateOrder): Promise<unknown> {
    return this.#call((call) => ({ kind: 'update', call, order }));
  }

  introspect(order: IntrospectOrder): Promise<unknown> {
    return this.#call((call) => ({ kind: 'introspect', call, order }));
  }

  /** Ends the process at once, whatever it does. */
  kill(): void {
    this.#isKilled = true;
    if (!this.#gone) this.#child.kill('SIGKILL');
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
    // A failed send means the process is ending; its 'exit' tells what was lost.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #run(message: AttemptMessage): void {
    if (message.kind !== 'events') this.attempts.delete(keyOf(message));
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
