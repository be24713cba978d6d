// Chores that recur, each done by one node at a time.
//
//   due ──claim──▶ held ──all done, or failed──▶ waiting ──everyMs──▶ due
//    ▲              │
//    └─lease ended ◀┘ the node is gone: claimed by another
//
// Every node asks for what is due. Who got a chore renews its lease while it works; who has lost it stops, and says
// nothing more of it. The database's clock decides all times.
import type { Logger } from 'pino';
import type { PeriodicTaskLease, PeriodicTaskStorage } from '../storage/periodic-tasks.ts';

export interface PeriodicTask {
  name: string;
  /** Milliseconds from the end of one round to the next. */
  everyMs: number;
  /**
   * Does a bounded part, and returns how many things it did; called again, until the round is over, while that is a
   * full batch. Two nodes may both be inside it for a moment, after one was held up for longer than its lease.
   */
  work: (signal: AbortSignal) => Promise<number>;
  /** What a full batch is; one thing when absent. */
  batch?: number;
}

export interface PeriodicTaskOptions {
  /** How often to look for what is due. */
  pollMs: number;
  leaseMs?: number;
  logger: Logger;
}

const leaseDefaultMs = 30_000;

export class PeriodicTasks implements AsyncDisposable {
  readonly #storage: PeriodicTaskStorage;
  readonly #tasks: ReadonlyMap<string, PeriodicTask>;
  readonly #pollMs: number;
  readonly #leaseMs: number;
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  readonly #rounds = new Map<string, Promise<void>>();
  #isRegistered = false;
  #polling: Promise<void> | undefined;
  #timer: NodeJS.Timeout;

  constructor(
    storage: PeriodicTaskStorage,
    tasks: PeriodicTask[],
    { pollMs, leaseMs, logger }: PeriodicTaskOptions,
  ) {
    this.#storage = storage;
    this.#tasks = new Map(tasks.map((task) => [task.name, task]));
    this.#pollMs = pollMs;
    this.#leaseMs = leaseMs ?? leaseDefaultMs;
    this.#logger = logger;
    this.#timer = setTimeout(() => this.#poll(), 0);
  }

  /** Stops the rounds under way; others may claim them at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#polling;
    await Promise.all(this.#rounds.values());
  }

  #poll(): void {
    this.#polling = this.#claim()
      .catch((error: unknown) =>
        this.#logger.error({ err: error }, 'failed to claim periodic tasks, retrying'),
      )
      .finally(() => {
        if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => this.#poll(), this.#pollMs);
      });
  }

  async #claim(): Promise<void> {
    if (!this.#isRegistered) {
      await this.#storage.register([...this.#tasks.keys()]);
      this.#isRegistered = true;
    }
    // One that still winds up here, after its lease was lost, is for others.
    const names = [...this.#tasks.keys()].filter((name) => !this.#rounds.has(name));
    if (names.length === 0) return;
    for (const lease of await this.#storage.claim(names, this.#leaseMs)) {
      const task = this.#tasks.get(lease.name);
      if (!task) continue;
      const round = this.#round(task, lease).finally(() => this.#rounds.delete(task.name));
      this.#rounds.set(task.name, round);
    }
  }

  /** Never rejects. */
  async #round(task: PeriodicTask, lease: PeriodicTaskLease): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, lost.signal]);
    const renewal = setInterval(() => void this.#renew(lease, lost), this.#leaseMs / 3);
    try {
      const count = await this.#work(task, lease, lost, signal);
      if (count > 0) this.#logger.debug({ task: task.name, count }, 'periodic task done');
    } catch (error) {
      if (!signal.aborted)
        this.#logger.error({ err: error, task: task.name }, 'periodic task failed, retrying');
    } finally {
      clearInterval(renewal);
    }
    if (lost.signal.aborted) return;
    try {
      await this.#storage.finish(lease, this.#closing.signal.aborted ? 0 : task.everyMs);
    } catch (error) {
      this.#logger.error(
        { err: error, task: task.name },
        'failed to give back the lease of a periodic task; it will expire',
      );
    }
  }

  async #work(
    task: PeriodicTask,
    lease: PeriodicTaskLease,
    lost: AbortController,
    signal: AbortSignal,
  ): Promise<number> {
    for (let total = 0; ;) {
      if (signal.aborted) return total;
      const count = await task.work(signal);
      total += count;
      if (count < (task.batch ?? 1)) return total;
      if (!signal.aborted) await this.#renew(lease, lost);
    }
  }

  /** An error is not yet a loss: the lease may hold until the next try. */
  async #renew(lease: PeriodicTaskLease, lost: AbortController): Promise<void> {
    try {
      if (await this.#storage.renew(lease, this.#leaseMs)) return;
      this.#logger.warn({ task: lease.name }, 'another node has taken over a periodic task');
      lost.abort();
    } catch (error) {
      this.#logger.error({ err: error, task: lease.name }, 'failed to renew the lease of a periodic task');
    }
  }
}
