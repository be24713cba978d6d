// Reports this node regularly: how many runs it takes, of which graphs, and how many connections it may have.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { WorkerStorage } from '../../storage/deployment/workers.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface NodeFacts {
  executesRuns: boolean;
  /** That all of its processes may have together. */
  connections: number;
}

export class WorkerReporter implements AsyncDisposable {
  readonly #workers: WorkerStorage;
  readonly #dispatcher: Dispatcher;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #reporting: Promise<void> = Promise.resolve();

  readonly #node: NodeFacts;

  constructor(workers: WorkerStorage, dispatcher: Dispatcher, node: NodeFacts, logger: Logger) {
    this.#workers = workers;
    this.#dispatcher = dispatcher;
    this.#node = node;
    this.#logger = logger;
    dispatcher.pool.onLoaded = () => this.report();
    this.#timer = setInterval(() => this.report(), dispatcher.leaseMs / 2);
    this.report();
  }

  /** Now, since something has changed. */
  report(): void {
    const { worker_id, running, isDraining, pool, graphs } = this.#dispatcher;
    const report = {
      worker_id,
      name: `${hostname()}:${process.pid}`,
      // One that still loads its graphs takes runs and makes them wait.
      slots: pool.loadedSlots,
      running,
      draining: isDraining || !this.#node.executesRuns,
      connections: this.#node.connections,
      graphs: this.#node.executesRuns ? graphs : [],
    };
    this.#reporting = this.#workers
      .report(report)
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the worker could not report itself'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
    await this.#workers
      .leave(this.#dispatcher.worker_id)
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the worker could not sign off'));
  }
}
