// The executors of this server process. One that dies is replaced; its runs are the dispatcher's to give again.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ExecutorProcess, type ExecutorEvents } from './executor-process.ts';
import type { ExecutorSetup, IntrospectOrder, RunOrder, UpdateOrder } from './protocol.ts';

export interface PoolOptions {
  setup: ExecutorSetup;
  executors: number;
  /** Runs at a time per executor. */
  jobsPerExecutor: number;
  logger: Logger;
  events: ExecutorEvents;
}

/** Doubles with every executor in a row that ends before it was ready; then waiting helps little. */
const respawnDelayMaxMs = 5_000;

export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #executors = new Set<ExecutorProcess>();
  #closing = false;
  #failures = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    for (let count = 0; count < options.executors; count++) this.#spawn();
  }

  get freeSlots(): number {
    let free = 0;
    for (const executor of this.#executors) free += this.#options.jobsPerExecutor - executor.runs.size;
    return free;
  }

  /** Starts a run on the least loaded executor. The caller has made sure that there is a free slot. */
  run(order: RunOrder): void {
    this.#leastLoaded().run(order);
  }

  cancel(run_id: string): void {
    for (const executor of this.#executors) if (executor.runs.has(run_id)) executor.cancel(run_id);
  }

  listen(run_id: string): void {
    for (const executor of this.#executors) if (executor.runs.has(run_id)) executor.listen(run_id);
  }

  update(order: UpdateOrder): Promise<unknown> {
    return this.#leastLoaded().update(order);
  }

  introspect(order: IntrospectOrder): Promise<unknown> {
    return this.#leastLoaded().introspect(order);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#executors].map((executor) => executor.stop()));
  }

  #leastLoaded(): ExecutorProcess {
    let best: ExecutorProcess | undefined;
    for (const executor of this.#executors) if (!best || executor.runs.size < best.runs.size) best = executor;
    if (!best) throw new Problem('unavailable', 'No executor is up at the moment; try again shortly');
    return best;
  }

  #spawn(): void {
    const { setup, events, logger } = this.#options;
    const executor = new ExecutorProcess(setup, {
      onRun: events.onRun,
      onExit: (running, reason) => {
        this.#executors.delete(executor);
        if (this.#closing) return;
        logger.error({ reason, runs: running }, 'an executor ended; starting another');
        events.onExit(running, reason);
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
}
