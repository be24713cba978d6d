// Reports this node at intervals: its slots, its graphs, and its limit of database connections.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import type { ProcessIdentity } from '../../config/process-identity.ts';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface NodeFacts {
  executesRuns: boolean;
  /** Limit of database connections for all processes of the node together. */
  connections: number;
  identity: ProcessIdentity;
}

export class WorkerReporter implements AsyncDisposable {
  readonly #workers: WorkerStorage;
  readonly #dispatcher: Dispatcher;
  readonly #logger: Logger;
  readonly #loop: WorkerLoop;
  readonly #node: NodeFacts;

  constructor(workers: WorkerStorage, dispatcher: Dispatcher, node: NodeFacts, logger: Logger) {
    this.#workers = workers;
    this.#dispatcher = dispatcher;
    this.#node = node;
    this.#logger = logger;
    dispatcher.pool.onCapacity = () => this.report();
    this.#loop = new WorkerLoop({
      task: 'report this worker',
      claim: () => this.#report(),
      pollMs: dispatcher.leaseMs / 2,
      logger,
    });
    this.report();
  }

  /** Reports now, because something has changed. */
  report(): void {
    this.#loop.wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop.stop();
    await this.#workers
      .leave(this.#dispatcher.worker_id)
      .catch((error: unknown) =>
        this.#logger.warn({ err: error }, 'failed to remove the report of this worker'),
      );
  }

  async #report(): Promise<void> {
    const { worker_id, running, isDraining, pool, graphs } = this.#dispatcher;
    await this.#workers.report({
      worker_id,
      name: `${hostname()}:${process.pid}`,
      // Only loaded executors count. The others claim runs too, which wait until the graphs are loaded.
      slots: pool.capacity,
      running,
      blocked_executors: pool.blocked,
      draining: isDraining || !this.#node.executesRuns,
      connections: this.#node.connections,
      graphs: this.#node.executesRuns ? graphs : [],
      ...this.#node.identity,
    });
  }
}
