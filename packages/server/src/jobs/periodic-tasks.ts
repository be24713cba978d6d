// Tasks that recur, each executed by one node at a time.
//
//   due ──claim──▶ held ──all done, or failed──▶ waiting ──everyMs──▶ due
//    ▲              │
//    └─lease ended ◀┘ the node has ended: another node claims the task
//
// Every node claims the tasks that are due. The holder renews its lease while it works, and stops when it has lost it. The
// database's clock decides all times.
import type { Logger } from 'pino';
import type { PeriodicTaskStorage } from '../storage/periodic-tasks.ts';
import type { Lease } from '../storage/postgres/lease.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { WorkerLoop } from './worker-loop.ts';

export interface PeriodicTask {
  name: string;
  /** Milliseconds from the end of one round to the next. */
  everyMs: number;
  /**
   * Does a bounded part of the work and returns how many items it has processed. It is called again after a full batch; otherwise the
   * round ends. Two nodes may execute it at the same time for a moment, when one did not run for longer than its lease.
   */
  work: (signal: AbortSignal) => Promise<number>;
  /** The size of a full batch; 1 when absent. */
  batch?: number;
}

export interface PeriodicTaskOptions {
  /** How often to look for due tasks. */
  pollMs: number;
  leaseMs?: number;
  logger: Logger;
}

const leaseDefaultMs = 30_000;

/** A task that is executed here; its id is the name of the task. */
interface Round extends Lease {
  task: PeriodicTask;
  stop: AbortController;
}

export class PeriodicTasks implements AsyncDisposable {
  readonly #storage: PeriodicTaskStorage;
  readonly #tasks: ReadonlyMap<string, PeriodicTask>;
  readonly #leaseMs: number;
  readonly #logger: Logger;
  readonly #rounds = new Map<string, Round>();
  readonly #leases: LeaseKeeper<Round>;
  readonly #loop: WorkerLoop;
  #isRegistered = false;
  #isClosing = false;

  constructor(
    storage: PeriodicTaskStorage,
    tasks: PeriodicTask[],
    { pollMs, leaseMs = leaseDefaultMs, logger }: PeriodicTaskOptions,
  ) {
    this.#storage = storage;
    this.#tasks = new Map(tasks.map((task) => [task.name, task]));
    this.#leaseMs = leaseMs;
    this.#logger = logger;
    this.#leases = new LeaseKeeper({
      leaseMs,
      renew: (held) => storage.renew(held, leaseMs),
      onLost: ({ id, stop }, { reason, message }) => {
        logger.warn({ task: id, reason, message }, 'lost the lease of a periodic task');
        stop.abort();
      },
      logger,
    });
    this.#loop = new WorkerLoop({
      task: 'claim periodic tasks',
      claim: () => this.#claim(),
      running: () => this.#rounds.size,
      pollMs,
      logger,
    });
    this.#loop.wake();
  }

  /** Stops the rounds under way; others may claim them at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await this.#loop.stop();
    for (const { stop } of this.#rounds.values()) stop.abort();
    await this.#loop.drain();
    this.#leases[Symbol.dispose]();
  }

  async #claim(): Promise<void> {
    if (!this.#isRegistered) {
      await this.#storage.register([...this.#tasks.keys()]);
      this.#isRegistered = true;
    }
    // A task that is still stopping here, after its lease was lost, is left to other nodes.
    const names = [...this.#tasks.keys()].filter((name) => !this.#rounds.has(name));
    if (names.length === 0) return;
    const sinceMs = performance.now();
    for (const lease of await this.#storage.claim(names, this.#leaseMs)) {
      const task = this.#tasks.get(lease.id);
      if (task) this.#start({ ...lease, task, stop: new AbortController() }, sinceMs);
    }
  }

  #start(round: Round, sinceMs: number): void {
    this.#rounds.set(round.id, round);
    this.#leases.keep(round, sinceMs);
    void this.#execute(round).finally(() => {
      this.#rounds.delete(round.id);
      this.#loop.slotFreed();
    });
  }

  /** Never rejects. */
  async #execute(round: Round): Promise<void> {
    const { task, stop } = round;
    const { signal } = stop;
    try {
      const count = await workAll(task, signal);
      if (count > 0) this.#logger.debug({ task: task.name, count }, 'periodic task done');
    } catch (error) {
      if (!signal.aborted)
        this.#logger.error({ err: error, task: task.name }, 'periodic task failed, retrying');
    }
    if (!this.#leases.drop(round)) return; // lost
    try {
      await this.#storage.finish(round, this.#isClosing ? 0 : task.everyMs);
    } catch (error) {
      this.#logger.error(
        { err: error, task: task.name },
        'failed to give back the lease of a periodic task; it will expire',
      );
    }
  }
}

/** Returns the number of processed items. */
const workAll = async (task: PeriodicTask, signal: AbortSignal): Promise<number> => {
  for (let total = 0; ;) {
    if (signal.aborted) return total;
    const count = await task.work(signal);
    total += count;
    if (count < (task.batch ?? 1)) return total;
  }
};
