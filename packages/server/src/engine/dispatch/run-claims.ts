// Claims runs into the free slots of the executors and starts them, and sets slots aside for runs that are inserted as claimed.
import type { NotificationBus } from '../../jobs/notification-bus.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import type { ClaimedSetting } from '../../storage/deployment/runs/run-leases.ts';
import type { RunRow } from '../../storage/deployment/runs/run-rows.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import { isUnavailable } from '../../storage/postgres/sql-state.ts';
import type { Attempt } from './attempt.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { ExecutorPool } from './executor-pool.ts';
import type { RunCommand } from './protocol.ts';
import { claimedCommand, waitedMsOf } from './run-command.ts';
import type { GiveBack, RunEndings } from './run-endings.ts';

export interface RunClaimOptions extends Pick<
  DispatcherOptions,
  'leases' | 'worker_id' | 'leaseMs' | 'attemptsMax' | 'streams' | 'users' | 'logger'
> {
  pool: Pick<ExecutorPool, 'freeSlots' | 'extraSlots' | 'isComputing' | 'noteFull'>;
  /** Ids of the graphs that are executed here. */
  graphs: readonly string[];
  endings: RunEndings;
  /** Runs that are executed here. */
  running: () => number;
  /** Starts a claimed run. `sinceMs`: monotonic time from which its lease counts. */
  start: (
    command: RunCommand,
    sinceMs: number,
    how: { losses: number; waitedMs: number | undefined },
  ) => void;
  cancel: (run_id: string) => void;
  /** Announces runs; undefined where no runs are executed. */
  notifications: NotificationBus | undefined;
}

export class RunClaims {
  readonly #options: RunClaimOptions;
  readonly #loop: WorkerLoop;
  readonly #served = new ServedQueues();
  readonly #pace = new ClaimPace();
  /** Runs that were claimed and have not started yet, with the calls that wait for their attempts. */
  readonly #starting = new Map<string, ((attempt: Attempt) => void)[]>();
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

  /** True for a run that was claimed and has not started yet. */
  isStarting(run_id: string): boolean {
    return this.#starting.has(run_id);
  }

  /** Calls `act` when the run starts; never for a run that is not starting. */
  whenStarted(run_id: string, act: (attempt: Attempt) => void): void {
    this.#starting.get(run_id)?.push(act);
  }

  noteStarted(attempt: Attempt): void {
    for (const act of this.#starting.get(attempt.id) ?? []) act(attempt);
    this.#starting.delete(attempt.id);
  }

  /**
   * Gives back claimed runs that were not started. Each loses an attempt, so a run that can never be started is charged in the end. This
   * process claims fewer runs for a while.
   */
  giveBackUnstarted(runs: Lease[], how: Omit<GiveBack, 'cause'>): void {
    this.#pace.noteUnstarted(runs.length);
    this.#options.endings.giveBack(runs, { ...how, cause: 'unstarted' });
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

  drain(graceMs: number, hurry?: AbortSignal): Promise<void> {
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
    // The other half is for runs that are created meanwhile: one without a slot would wait, and its events would go through the log.
    const count = Math.ceil(free / 2);
    this.#reserved += count;
    try {
      return await this.#claimOf(graphs, count);
    } finally {
      this.#reserved -= count;
    }
  }

  async #claimOf(graphs: readonly string[], count: number): Promise<boolean> {
    if (count <= 0) return false;
    const { leases, worker_id, leaseMs, attemptsMax } = this.#options;
    const served = this.#served.list();
    const limit = this.#pace.limit(count);
    const claim = { count: limit, worker_id, leaseMs, attemptsMax, graphs, served };
    const { runs, sinceMs } = await leases.claim(claim);
    for (const run of runs) this.#served.note(run);
    const { unstarted } = this.#pace;
    await this.#startAll(runs, sinceMs);
    this.#pace.noteClaim(runs.length, this.#pace.unstarted - unstarted);
    return runs.length === limit;
  }

  async #startAll(claimed: RunRow[], sinceMs: number): Promise<void> {
    for (const run of claimed) if (run.status !== 'running') this.#options.endings.endStream(run);
    const started = claimed.filter((run) => run.status === 'running');
    if (started.length === 0) return;
    // Registered before the settings are read: a notification may report a change that the settings do not contain yet.
    for (const { run_id } of started) this.#starting.set(run_id, []);
    try {
      await this.#startClaimed(started, sinceMs);
    } finally {
      this.#starting.clear();
    }
  }

  async #startClaimed(started: RunRow[], sinceMs: number): Promise<void> {
    const { streams, users, logger, endings, start, cancel } = this.#options;
    for (const { run, setting } of await this.#readSettings(started)) {
      try {
        const command = claimedCommand(run, setting, streams.find(run.run_id), users);
        if ('error' in command) {
          endings.endUnstartable(run, command);
          continue;
        }
        if (setting?.cancelled) cancel(run.run_id);
        start(command, sinceMs, { losses: run.lost_attempts.length, waitedMs: waitedMsOf(run) });
      } catch (error) {
        // Of this run alone: the others start.
        logger.error({ err: error, run_id: run.run_id }, 'failed to start a run');
        const reason = `it could not be started: ${(error as Error).message}`;
        this.giveBackUnstarted([leaseOf(run)], { charge: true, reason });
      }
    }
  }

  /**
   * The runs with their start settings. If the database is unavailable, the runs are given back. Otherwise the statement fails because of one
   * run: the settings of each run are read alone, and the runs that cannot be read are charged.
   */
  async #readSettings(runs: RunRow[]): Promise<{ run: RunRow; setting: ClaimedSetting | undefined }[]> {
    const { leases } = this.#options;
    try {
      const settings = await leases.settings(runs.map((run) => run.run_id));
      const byRun = new Map(settings.map((setting) => [setting.run_id, setting]));
      return runs.map((run) => ({ run, setting: byRun.get(run.run_id) }));
    } catch (error) {
      if (isUnavailable(error) || runs.length === 1) {
        const reason = `its start settings cannot be read: ${(error as Error).message}`;
        this.giveBackUnstarted(runs.map(leaseOf), { charge: !isUnavailable(error), reason });
        return [];
      }
    }
    const read = [];
    for (const run of runs) read.push(...(await this.#readSettings([run])));
    return read;
  }
}

const leaseOf = ({ run_id, lease_token }: RunRow): Lease => ({ id: run_id, lease_token });

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
