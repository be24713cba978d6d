// The executors of this server process. One that dies is replaced; its runs are the dispatcher's to give again.
// A run on its last attempt gets an executor to itself: if it is the one that kills them, nobody else is hurt, and
// if it is not, nobody else can hurt it.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ExecutorProcess, type AttemptRef, type ExecutorEvents } from './executor-process.ts';
import type { ExecutorSetup, IntrospectOrder, RunCommand, UpdateOrder } from './protocol.ts';

export interface PoolOptions {
  setup: ExecutorSetup;
  executors: number;
  /** Runs at a time per executor; 0 where graphs are only looked at. */
  jobsPerExecutor: number;
  logger: Logger;
  events: ExecutorEvents;
}

/** Doubles with every executor in a row that ends before it was ready; then waiting helps little. */
const respawnDelayMaxMs = 5_000;

export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #executors = new Set<ExecutorProcess>();
  readonly #solitary = new Set<ExecutorProcess>();
  #closing = false;
  #failures = 0;
  /** How many executors have ended by themselves. */
  crashes = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    for (let count = 0; count < options.executors; count++) this.#spawn();
  }

  get slots(): number {
    return this.#options.executors * this.#options.jobsPerExecutor;
  }

  get freeSlots(): number {
    let free = -this.#solitary.size;
    for (const executor of this.#executors) free += this.#options.jobsPerExecutor - executor.attempts.size;
    return free;
  }

  /** Starts a run on the least loaded executor, or on one of its own. The caller has made sure that there is a free slot. */
  run(order: RunCommand, isAlone: boolean): ExecutorProcess {
    const executor = isAlone ? this.#spawnSolitary() : this.#leastLoaded();
    executor.run(order);
    return executor;
  }

  update(order: UpdateOrder): Promise<unknown> {
    return this.#leastLoaded().update(order);
  }

  introspect(order: IntrospectOrder): Promise<unknown> {
    return this.#leastLoaded().introspect(order);
  }

  /** Ends every executor at once; the others come back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#executors, ...this.#solitary].map((executor) => executor.stop()));
  }

  /** One that is up before one that is about to be, if it has room. */
  #leastLoaded(): ExecutorProcess {
    const load = ({ isReady, attempts }: ExecutorProcess): number =>
      isReady ? attempts.size : attempts.size + this.#options.jobsPerExecutor;
    let best: ExecutorProcess | undefined;
    for (const executor of this.#executors) if (!best || load(executor) < load(best)) best = executor;
    if (!best) throw new Problem('unavailable', 'No executor is up at the moment; try again shortly');
    return best;
  }

  #spawn(): void {
    const { setup, events, logger } = this.#options;
    const executor = new ExecutorProcess(setup, {
      onRun: events.onRun,
      onExit: (running, reason, isDeliberate) => {
        this.#executors.delete(executor);
        if (this.#closing) return;
        this.crashes += 1;
        logger.error({ reason, runs: runIds(running) }, 'an executor ended; starting another');
        events.onExit(running, reason, isDeliberate);
        const delayMs = this.#failures === 0 ? 0 : Math.min(50 * 2 ** this.#failures, respawnDelayMaxMs);
        this.#failures += 1;
        setTimeout(() => this.#closing || this.#spawn(), delayMs);
      },
    });
    this.#executors.add(executor);
    executor.ready.then(
      () => (this.#failures = 0),
      () => undefined, // onExit has reported it
    );
  }

  #spawnSolitary(): ExecutorProcess {
    const { setup, events, logger } = this.#options;
    const executor: ExecutorProcess = new ExecutorProcess(setup, {
      onRun: (message) => {
        events.onRun(message);
        if (message.kind !== 'events') void executor.stop();
      },
      onExit: (running, reason, isDeliberate) => {
        this.#solitary.delete(executor);
        if (this.#closing || running.length === 0) return;
        this.crashes += 1;
        logger.error({ reason, runs: runIds(running) }, 'an executor with one run ended');
        events.onExit(running, reason, isDeliberate);
      },
    });
    this.#solitary.add(executor);
    return executor;
  }
}

const runIds = (running: AttemptRef[]): string[] => running.map(({ run_id }) => run_id);
