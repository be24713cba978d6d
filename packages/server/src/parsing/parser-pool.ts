// Parses large bodies in separate threads, so that the event loop can renew leases meanwhile. The threads are few and start with the
// first large body. The number of waiting tasks is limited.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ParserThread, type ThreadLimits, type ThreadTask } from './parser-thread.ts';
import type { Task, TaskRunner } from './tasks.ts';

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
