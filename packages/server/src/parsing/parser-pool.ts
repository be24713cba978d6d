// Parses large bodies in separate threads, so that the event loop can renew leases meanwhile. The threads are few and start with the
// first large body. The number of waiting tasks is limited.
import { type TransferListItem, Worker } from 'node:worker_threads';
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import {
  fromProblemData,
  type FromThread,
  type Task,
  type TaskRunner,
  toProblemData,
  type ToThread,
} from './tasks.ts';
import { programFile } from '../config/programs.ts';

export interface ParserPoolOptions extends Partial<ThreadLimits> {
  threads: number;
  /** Tasks that wait for a thread. */
  waitingMax?: number;
  logger: Pick<Logger, 'warn'>;
}

interface Waiting {
  task: ThreadTask;
  resolve: (output: unknown) => void;
  reject: (error: unknown) => void;
}

const defaults = { timeoutMs: 30_000, heapMb: 320, waitingMax: 100 };

export class ParserPool<T extends { [N in keyof T]: Task }> implements TaskRunner<T>, AsyncDisposable {
  readonly #options: ParserPoolOptions & typeof defaults;
  readonly #threads = new Set<ParserThread>();
  readonly #idle: ParserThread[] = [];
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(options: ParserPoolOptions) {
    this.#options = { ...defaults, ...options };
  }

  run<N extends keyof T & string>(
    name: N,
    input: T[N]['input'],
    transfer: readonly ArrayBuffer[] = [],
    answer?: (question: T[N]['question']) => Promise<unknown>,
  ): Promise<T[N]['output']> {
    const task = { name, input, transfer, answer: (answer ?? noAnswer) as ThreadTask['answer'] };
    return new Promise<unknown>((resolve, reject) => {
      const { waitingMax } = this.#options;
      if (this.#isClosed) return reject(new Problem('unavailable', 'The server is stopping.'));
      if (this.#waiting.length >= waitingMax)
        return reject(
          new Problem('unavailable', `More than ${waitingMax} large requests wait to be parsed.`),
        );
      this.#waiting.push({ task, resolve, reject });
      this.#startNext();
    }) as Promise<T[N]['output']>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0))
      reject(new Problem('unavailable', 'The server is stopping.'));
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  #startNext(): void {
    if (this.#waiting.length === 0) return;
    const thread = this.#idle.pop() ?? this.#newThread();
    if (!thread) return;
    const next = this.#waiting.shift();
    if (!next) return void this.#idle.push(thread);
    thread
      .run(next.task)
      .then(next.resolve, next.reject)
      .finally(() => {
        if (!thread.isEnding) this.#idle.push(thread);
        this.#startNext();
      });
  }

  #newThread(): ParserThread | undefined {
    if (this.#isClosed || this.#threads.size >= this.#options.threads) return undefined;
    const thread = new ParserThread(this.#options, (reason) => {
      this.#threads.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
      if (this.#isClosed) return;
      this.#options.logger.warn({ reason }, 'parser thread ended');
      this.#startNext();
    });
    this.#threads.add(thread);
    return thread;
  }
}

const noAnswer = (): Promise<never> =>
  Promise.reject(new Error('The task has no function that answers questions'));

// The main thread's side of one parser thread, which executes one task at a time.

interface ThreadLimits {
  /** Longest computing time of a task, between its questions. */
  timeoutMs: number;
  /** Size of the thread's JavaScript heap. Transferred bytes do not count. */
  heapMb: number;
}

/** A task as data, with the buffers to transfer and the function that answers the task's questions. */
interface ThreadTask {
  name: string;
  input: unknown;
  transfer: readonly TransferListItem[];
  answer: (question: unknown) => Promise<unknown>;
}

interface Running {
  answer: ThreadTask['answer'];
  resolve: (output: unknown) => void;
  reject: (error: Error) => void;
  /** The error of a question that could not be answered. It has its cause, unlike the error that the task throws then. */
  failure?: Error;
}

const entry = programFile('parser.js');

class ParserThread {
  readonly #worker: Worker;
  readonly #limits: ThreadLimits;
  #running: Running | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** It takes no more tasks. */
  isEnding = false;

  /** `onEnd` is called once, when the thread has ended for whatever reason. */
  constructor(limits: ThreadLimits, onEnd: (reason: string) => void) {
    this.#limits = limits;
    this.#worker = new Worker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
      // A parser needs no environment variables.
      env: {},
    });
    this.#worker.unref();
    let reason = 'it was stopped';
    this.#worker.on('message', (message: FromThread) => void this.#receive(message));
    this.#worker.on('error', (error: Error & { code?: string }) => {
      this.isEnding = true;
      reason = error.message;
      this.#fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory(limits) : lost(error));
    });
    this.#worker.on('exit', () => {
      this.isEnding = true;
      this.#fail(lost(new Error(reason)));
      onEnd(reason);
    });
  }

  run({ name, input, transfer, answer }: ThreadTask): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#running = { answer, resolve, reject };
      this.#send({ kind: 'task', name, input }, transfer);
    });
  }

  /** Ends the thread, whatever it does. */
  async stop(): Promise<void> {
    this.isEnding = true;
    clearTimeout(this.#timer);
    await this.#worker.terminate();
  }

  #send(message: ToThread, transfer: readonly TransferListItem[] = []): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeOut(), this.#limits.timeoutMs);
    this.#worker.postMessage(message, transfer);
  }

  async #receive(message: FromThread): Promise<void> {
    clearTimeout(this.#timer);
    const running = this.#running;
    if (message.kind === 'done') {
      this.#running = undefined;
      if (message.problem) running?.reject(running.failure ?? fromProblemData(message.problem));
      else running?.resolve(message.output);
      return;
    }
    let reply: ToThread;
    try {
      reply = { kind: 'reply', value: await running?.answer(message.question) };
    } catch (error) {
      if (running) running.failure = error as Error;
      reply = { kind: 'reply', problem: toProblemData(error) };
    }
    this.#send(reply);
  }

  #timeOut(): void {
    const { timeoutMs } = this.#limits;
    void this.stop();
    this.#fail(
      new Problem('unavailable', `Parsing the request took longer than ${timeoutMs / 1000} seconds.`),
    );
  }

  #fail(error: Error): void {
    const running = this.#running;
    this.#running = undefined;
    running?.reject(error);
  }
}

const tooMuchMemory = ({ heapMb }: ThreadLimits): Problem =>
  new Problem(
    'too_large',
    `Parsing the request needs more than ${heapMb} MB of memory: send it in smaller parts.`,
  );

const lost = (cause: Error): Problem =>
  new Problem('unavailable', 'The thread that parsed the request has ended.', { cause });
