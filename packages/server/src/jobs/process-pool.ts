// Child processes of one kind: keeps a number of them running, or starts them when they are needed and ends them when they have
// been idle for long.
//
//   started ──▶ busy ──rest()──▶ idle ──idleMs──▶ leaving ──▶ ended
//                │ ▲               │
//                │ └takeIdle(), use()┘
//                ├──by itself──▶ ended: a crash
//                └──killed by this process──▶ ended: a kill
import type { Logger } from 'pino';
import { Backoff } from '../backoff.ts';

export interface PooledProcess {
  readonly pid: number | undefined;
  /** Rejects when the process ends before it is ready. */
  readonly ready: Promise<unknown>;
  /** Why this process has killed it; undefined when it has not. Its end is then no crash. */
  readonly killReason?: string | undefined;
  /** Ends the process, gracefully if possible; resolves when it has ended. */
  stop(): Promise<void>;
}

export interface ProcessPoolOptions<P> {
  /** Name of one process, for the log. */
  name: string;
  /** Starts a process. `onEnd` must be called once, when it has ended; `fields` go to the log. */
  start: (onEnd: (reason: string, fields?: object) => void) => P;
  /** Number of processes to keep running: one that ends is replaced. 0 when absent. */
  keep?: number;
  /** How long a process may be idle. */
  idleMs?: number;
  logger: Logger;
}

/** Pauses before the replacement of a process that ended before it was ready. A process that was ready is replaced at once. */
const respawnMs = { first: 100, max: 5_000 };

export class ProcessPool<P extends PooledProcess> implements AsyncDisposable {
  readonly #options: ProcessPoolOptions<P>;
  readonly #active = new Set<P>();
  /** Idle processes, with the timers that end them. */
  readonly #idle = new Map<P, NodeJS.Timeout>();
  readonly #leaving = new Set<P>();
  readonly #backoff = new Backoff(respawnMs);
  #hasFailed = false;
  isClosing = false;
  /** Number of processes that have ended unexpectedly. */
  crashes = 0;
  /** Number of processes that were killed. */
  kills = 0;

  constructor(options: ProcessPoolOptions<P>) {
    this.#options = options;
    for (let count = 0; count < (options.keep ?? 0); count++) this.start();
  }

  /** The running processes, except those that are being ended. */
  get active(): ReadonlySet<P> {
    return this.#active;
  }

  /** Processes that have not ended. */
  get size(): number {
    return this.#active.size + this.#leaving.size;
  }

  get idle(): number {
    return this.#idle.size;
  }

  start(): P {
    const started = this.#options.start((reason, fields) => this.#onEnd(started, reason, fields));
    this.#active.add(started);
    started.ready.then(
      () => {
        this.#hasFailed = false;
        this.#backoff.reset();
      },
      () => undefined, // onEnd reports it
    );
    return started;
  }

  /** Returns an idle process, if there is one, and marks it busy. */
  takeIdle(): P | undefined {
    const [idle] = this.#idle.keys();
    if (idle) this.#stopIdling(idle);
    return idle;
  }

  /** Marks the process idle: it may be used again, and is ended after `idleMs`. */
  rest(process: P): void {
    this.#stopIdling(process);
    const timer = setTimeout(() => this.retire(process), this.#options.idleMs);
    timer.unref();
    this.#idle.set(process, timer);
  }

  /** Marks an idle process busy; another one stays as it is. */
  use(process: P): void {
    this.#stopIdling(process);
  }

  /** Ends the process. It gets no more work, and its end does not count as a crash. */
  retire(process: P): void {
    this.#stopIdling(process);
    if (!this.#active.delete(process)) return;
    this.#leaving.add(process);
    void process.stop();
  }

  /** Ends all processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosing = true;
    await Promise.all([...this.#active, ...this.#leaving].map((process) => process.stop()));
  }

  #stopIdling(process: P): void {
    clearTimeout(this.#idle.get(process));
    this.#idle.delete(process);
  }

  #onEnd(process: P, reason: string, fields: object = {}): void {
    const { name, keep = 0, logger } = this.#options;
    const isExpected = this.#leaving.delete(process) || this.#idle.has(process) || this.isClosing;
    this.#stopIdling(process);
    this.#active.delete(process);
    if (isExpected) return;
    const { killReason } = process;
    if (killReason === undefined) {
      this.crashes += 1;
      logger.error({ reason, ...fields }, `${name} ended unexpectedly`);
    } else {
      this.kills += 1;
      logger.warn({ reason: killReason, ...fields }, `${name} was killed`);
    }
    if (this.size >= keep) return;
    const delayMs = this.#hasFailed ? this.#backoff.next() : 0;
    this.#hasFailed = true;
    setTimeout(() => this.isClosing || this.start(), delayMs);
  }
}
