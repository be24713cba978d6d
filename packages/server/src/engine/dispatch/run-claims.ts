// Claims runs into the free slots of the executors, and sets slots aside for runs that are inserted as claimed.
import type { Logger } from 'pino';
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import type { RunLeaseStorage } from '../../storage/deployment/runs/run-leases.ts';
import type { RunRow } from '../../storage/deployment/runs/run-rows.ts';
import type { ExecutorPool } from './executor-pool.ts';

export interface RunClaimOptions {
  leases: Pick<RunLeaseStorage, 'claim'>;
  pool: Pick<ExecutorPool, 'freeSlots' | 'extraSlots' | 'isComputing' | 'noteFull'>;
  /** Ids of the graphs that are executed here. */
  graphs: readonly string[];
  worker_id: string;
  leaseMs: number;
  attemptsMax: number;
  /** Runs that are executed here. */
  running: () => number;
  /** Starts claimed runs. `sinceMs`: monotonic time from which their leases count. */
  start: (runs: RunRow[], sinceMs: number) => Promise<void>;
  /** Announces runs; undefined where no runs are executed. */
  notifications: NotificationBus | undefined;
  logger: Logger;
}

export class RunClaims {
  readonly #options: RunClaimOptions;
  readonly #loop: WorkerLoop;
  readonly #served = new ServedQueues();
  readonly #pace = new ClaimPace();
  #reserved = 0;
  /** Runs of any graph may wait for a slot of a shared executor. */
  #isFull = false;

  constructor(options: RunClaimOptions) {
    this.#options = options;
    const { running, notifications, logger } = options;
    this.#loop = new WorkerLoop({
      task: 'claim runs',
      claim: () => this.#claim(),
      freeSlots: () => this.#slots(),
      running,
      ...(notifications ? { notifications: { bus: notifications, kind: 'p' } } : {}),
      logger,
    });
  }

  /** Runs that were claimed and given back before they started. */
  get unstarted(): number {
    return this.#pace.unstarted;
  }

  /** Claimed runs are given back before they start. */
  noteUnstarted(count: number): void {
    this.#pace.noteUnstarted(count);
  }

  /**
   * Sets a slot aside for a run that is about to be inserted as claimed. False when none is free, and while this worker claims fewer runs
   * than it has slots for.
   */
  reserve(): boolean {
    if (this.#pace.isLimited) return false;
    if (this.#freeSlots <= 0) {
      this.#noteFull();
      return false;
    }
    this.#reserved += 1;
    return true;
  }

  #noteFull(): void {
    this.#isFull = true;
    this.#options.pool.noteFull();
    if (this.#options.pool.extraSlots <= 0) this.#loop.noteFull();
  }

  /** Gives back a slot that reserve() set aside. */
  unreserve(): void {
    this.#reserved -= 1;
    this.slotFreed();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** A run has ended, or an executor may take another number of runs. */
  slotFreed(): void {
    this.#loop.slotFreed();
    if (this.#isFull && this.#freeSlots > 0) this.#loop.wake();
  }

  drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    return this.#loop.drain(graceMs, hurry);
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  #slots(): number {
    const free = this.#freeSlots;
    if (free <= 0) this.#options.pool.noteFull();
    return Math.max(free, this.#options.pool.extraSlots);
  }

  /** Slots for runs of any graph. */
  get #freeSlots(): number {
    return this.#options.pool.freeSlots - this.#reserved;
  }

  /** Claims runs of all graphs; when only the extra executor has a slot, runs of graphs that do not compute. */
  async #claim(): Promise<boolean> {
    const { pool, graphs } = this.#options;
    const free = this.#freeSlots;
    this.#isFull = free <= 0;
    if (free <= 0) {
      const waiting = graphs.filter((graph_id) => !pool.isComputing(graph_id));
      return waiting.length > 0 && (await this.#claimOf(waiting, pool.extraSlots));
    }
    this.#reserved += free;
    try {
      return await this.#claimOf(graphs, free);
    } finally {
      this.#reserved -= free;
    }
  }

  async #claimOf(graphs: readonly string[], count: number): Promise<boolean> {
    if (count <= 0) return false;
    const { leases, worker_id, leaseMs, attemptsMax, start } = this.#options;
    const served = this.#served.list();
    const limit = this.#pace.limit(count);
    const claim = { count: limit, worker_id, leaseMs, attemptsMax, graphs, served };
    const { runs, sinceMs } = await leases.claim(claim);
    for (const run of runs) this.#served.note(run);
    const { unstarted } = this.#pace;
    await start(runs, sinceMs);
    this.#pace.noteClaim(runs.length, this.#pace.unstarted - unstarted);
    return runs.length === limit;
  }
}

/** From this number on, the free slots are the only limit again. */
const unlimitedFrom = 500;

/**
 * How many runs a worker claims at once. A worker that could not start all runs of a claim is too slow for so many, or one of the runs makes
 * the start of all fail: it claims half as many, down to one, and twice as many after each claim that has started whole.
 */
export class ClaimPace {
  #limit = Infinity;
  /** Runs that were claimed by this process and given back before they started. */
  unstarted = 0;

  /** True while the worker claims fewer runs than it has slots for. */
  get isLimited(): boolean {
    return this.#limit !== Infinity;
  }

  /** How many runs to claim. */
  limit(freeSlots: number): number {
    return Math.min(freeSlots, this.#limit);
  }

  /** Runs were given back before they started. */
  noteUnstarted(count: number): void {
    this.unstarted += count;
    this.#limit = Math.min(this.#limit, unlimitedFrom / 2);
  }

  /** All runs of a claim have been started or given back. Throws if some were given back, so that the next claim follows after a pause. */
  noteClaim(claimed: number, unstarted: number): void {
    if (unstarted > 0) {
      this.#limit = Math.max(1, Math.floor(claimed / 2));
      throw new Error(`${unstarted} of ${claimed} claimed runs were given back before they started`);
    }
    if (claimed === 0) return;
    this.#limit *= 2;
    if (this.#limit >= unlimitedFrom) this.#limit = Infinity;
  }
}

/** Assistants to remember. For a forgotten assistant, the next claim begins at any owner. */
const assistantsMax = 256;

/**
 * Remembers from which queues this worker has claimed runs, so that the next claim continues behind them: for each
 * assistant the owner that was served last, least recently served first. The database does not store this, because claims
 * would then wait for each other.
 */
export class ServedQueues {
  readonly #owners = new Map<string, number>();

  note({ assistant_id, owner_hash }: { assistant_id: string; owner_hash: number }): void {
    this.#owners.delete(assistant_id);
    this.#owners.set(assistant_id, owner_hash);
    for (const oldest of this.#owners.keys()) {
      if (this.#owners.size <= assistantsMax) return;
      this.#owners.delete(oldest);
    }
  }

  /** Least recently served first. */
  list(): [assistant_id: string, owner_hash: number][] {
    return [...this.#owners];
  }
}
