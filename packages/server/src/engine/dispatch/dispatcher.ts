// Gives runs to executors and holds their leases.
//
//   pending ──claim──▶ running ──done──▶ success | error | interrupted | timeout
//      ▲                  │
//      ├── released ◀─────┤ executor lost, server stopped, database away: given back
//      └── lease over ◀───┘ this process gone: put back by any other worker
//
// Runs are claimed when a notification says that one is ready, when a slot has become free, and by a poll that finds
// whatever was missed. The poll also queues delayed runs whose time has come and runs whose leases have ended. Leases
// are renewed here, never in the event loop of a graph.
import { untilAborted } from '../../abort.ts';
import { deleted } from '../streams/run-log-tail.ts';
import type { RunOutcome, RunEventStream } from '../streams/run-event-stream.ts';
import { LeaseKeeper, type LeaseLoss, type LossReason } from '../../jobs/lease-keeper.ts';
import type { Lease } from '../../storage/postgres/lease.ts';
import type { ClaimedSetting, Release } from '../../storage/deployment/run-leases.ts';
import type { RunRow, WorkerState } from '../../storage/deployment/runs.ts';
import { CoalescedTask } from '../../jobs/coalesced-task.ts';
import { Attempt } from './attempt.ts';
import { claimedCommand } from './claimed-command.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { AttemptRef, ExecutorProcess } from './executor-process.ts';
import { ExecutorPool } from './executor-pool.ts';
import type { AttemptMessage, RunCommand, RunStatus } from './protocol.ts';
import { RetriedWork } from '../../jobs/retried-work.ts';
import { ServedQueues } from './served-queues.ts';

/** Lost attempts after which a run is charged for outages of the database too. */
const outagesMax = 5;

export class Dispatcher {
  readonly pool: ExecutorPool;
  /** Ids of the graphs that are executed here. */
  readonly graphs: readonly string[];
  readonly #options: DispatcherOptions;
  readonly #attempts: LeaseKeeper<Attempt>;
  readonly #poll: NodeJS.Timeout | undefined;
  /** Attempts without a lease whose graphs have been told to stop. */
  readonly #leaving = new Set<Attempt>();
  /** Runs that are given back, or ended, in the database. */
  readonly #givings: RetriedWork;
  /** Claimed and not started yet: what their attempts are to be told. */
  readonly #starting = new Map<string, ((attempt: Attempt) => void)[]>();
  readonly #claims: CoalescedTask;
  /** There may be runs that only wait for a slot: then every run that ends here is a reason to claim. */
  #wasFull = false;
  /** It is time to look for delayed runs that are due, and for leases that have ended. */
  #isPollDue = true;
  readonly #served = new ServedQueues();
  #reserved = 0;
  #draining = false;
  #onQuiet: (() => void) | undefined;
  /** Leases of other workers that had ended and were found here, by what is known of the worker. */
  readonly recovered = new Map<WorkerState, number>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.graphs = options.setup.graphs.map(([graph_id]) => graph_id);
    const { setup, executors, jobsPerExecutor, solitaryMax, logger, leaseMs, notifications } = options;
    this.#claims = new CoalescedTask(() =>
      this.#claimAll().catch((error: unknown) =>
        logger.error({ err: error }, 'runs could not be claimed; will try again'),
      ),
    );
    this.#givings = new RetriedWork((error) =>
      logger.error({ err: error }, 'a run could not be given back or ended; will try again'),
    );
    this.#attempts = new LeaseKeeper({
      leaseMs,
      renew: (held) => this.#renew(held),
      onLost: (attempt, loss) => this.#onLeaseLost(attempt, loss),
      logger,
    });
    this.pool = new ExecutorPool({
      setup,
      executors,
      jobsPerExecutor,
      solitaryMax,
      logger,
      events: {
        onRun: (message) => this.#onRun(message),
        onModules: (files) => options.onModules?.(files),
        onExit: (running, reason, isDeliberate) => this.#onExecutorLost(running, reason, isDeliberate),
      },
    });
    notifications.on('c', (run_id) => this.cancel(run_id));
    notifications.on('l', (run_id) => this.#tell(run_id, (attempt) => attempt.listen(true)));
    if (jobsPerExecutor === 0) return;
    notifications.on('p', () => this.#claims.trigger());
    notifications.onMissed(() => this.#claims.trigger());
    this.#poll = setInterval(() => {
      this.#isPollDue = true;
      this.#claims.trigger();
    }, options.pollMs);
  }

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  get worker_id(): string {
    return this.#options.worker_id;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  get running(): number {
    return this.#attempts.size;
  }

  get leasesLost(): ReadonlyMap<LossReason, number> {
    return this.#attempts.lossesByReason;
  }

  /** Whether an attempt of the run executes here. */
  has(run_id: string): boolean {
    return this.#attempts.find(run_id) !== undefined;
  }

  /** Whether this process may start a run that was stored as claimed by it, at that time: nobody has, and its lease holds. */
  mayStart(run_id: string, sinceMs: number): boolean {
    return !this.has(run_id) && !this.#starting.has(run_id) && this.#attempts.isGood(sinceMs);
  }

  /** Sets a slot aside for a run that is about to be inserted as claimed; false when all are taken. */
  reserve(): boolean {
    if (this.#draining) return false;
    if (this.pool.freeSlots - this.#reserved <= 0) {
      this.#wasFull = true;
      return false;
    }
    this.#reserved += 1;
    return true;
  }

  /** True when readers here have not been sent all that earlier attempts have logged: they go on reading the log. */
  #isLogAhead({ run_id, logged, first_event_id }: RunCommand): boolean {
    const stream = this.#options.streams.find(run_id);
    return logged && stream !== undefined && stream.isFollowed && stream.nextId < first_event_id;
  }

  /** Gives back a slot that reserve() set aside. */
  unreserve(): void {
    this.#reserved -= 1;
    if (this.#wasFull) this.#claims.trigger();
  }

  /**
   * Starts a run whose lease was taken for this process; `sinceMs` is monotonic time from before that. A run that has lost
   * as many attempts as may be charged, less one, gets an executor to itself.
   */
  start(command: RunCommand, sinceMs: number, losses = 0): void {
    const isAlone = Math.max(command.attempt - 1, losses) >= Math.max(this.#options.attemptsMax - 1, 1);
    let executor: ExecutorProcess;
    try {
      executor = this.pool.run(command, isAlone);
    } catch (error) {
      // The last executor ended while the run was claimed.
      const lease = { id: command.run_id, lease_token: command.lease_token };
      return this.#giveBack([lease], { charge: false, lost: false, reason: (error as Error).message });
    }
    const attempt = new Attempt(command, executor, this.#options.limits, losses);
    attempt.isLogOnly = this.#isLogAhead(command);
    if (!attempt.isLogOnly) this.#options.tail.unfollow(command.run_id);
    this.#attempts.keep(attempt, sinceMs);
    for (const tell of this.#starting.get(command.run_id) ?? []) tell(attempt);
    this.#starting.delete(command.run_id);
  }

  /** Someone here reads the events of a run that may have started without readers. */
  listen(run_id: string): void {
    const attempt = this.#attempts.find(run_id);
    const stream = this.#options.streams.find(run_id);
    if (attempt?.isLogOnly && stream) this.#options.tail.follow(stream);
    else attempt?.listen(false);
  }

  /** Stops an attempt that runs here, if it does, or is about to. */
  cancel(run_id: string): void {
    this.#tell(run_id, (attempt) => attempt.stop('cancelled'));
  }

  /**
   * No more claims; resolves when nothing runs here any more. What runs gets `graceMs`, or until `hurry`; the rest
   * goes back to be claimed elsewhere, as if it had not been started.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    this.#draining = true;
    await this.#claims.stop();
    const quiet = new Promise<void>((resolve) => (this.#onQuiet = resolve));
    this.#checkQuiet();
    if (!hurry.aborted) {
      const over = AbortSignal.any([hurry, AbortSignal.timeout(Math.min(graceMs, 2 ** 31 - 1))]);
      await Promise.race([quiet, untilAborted(over)]);
    }
  }

  /** Gives the runs back, to be continued by other workers. Readers here follow them. Resolves when the runs are given back. */
  async handOver(): Promise<void> {
    const left = await this.#stopExecuting();
    this.#giveBack(left, { charge: false, lost: false, reason: 'the server handed its runs over' });
    await this.#givings.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#givings.stop();
    const left = await this.#stopExecuting();
    this.#attempts[Symbol.dispose]();
    await this.#givings.settled();
    for (const attempt of this.#leaving) attempt[Symbol.dispose]();
    await this.#release(left);
  }

  /** Returns the attempts that had not ended. */
  async #stopExecuting(): Promise<Attempt[]> {
    this.#draining = true;
    clearInterval(this.#poll);
    await this.#claims.stop();
    await this.pool[Symbol.asyncDispose]();
    const left = this.#attempts.all();
    for (const attempt of left) this.#over(attempt);
    return left;
  }

  async #release(left: Attempt[]): Promise<void> {
    if (left.length === 0) return;
    const { leases, logger } = this.#options;
    await leases
      .release(left, { charge: false, lost: false, reason: 'the server stopped' })
      .catch((err: unknown) =>
        logger.error({ err }, 'runs could not be given back; their leases will expire'),
      );
  }

  async #claimAll(): Promise<void> {
    const { leases, worker_id, leaseMs, attemptsMax } = this.#options;
    if (this.#isPollDue && !this.#draining) await this.#tendQueue();
    for (;;) {
      const free = this.pool.freeSlots - this.#reserved;
      if (this.#draining) return;
      this.#wasFull = free <= 0;
      if (free <= 0) return;
      this.#reserved += free;
      try {
        const { graphs } = this;
        const served = this.#served.list();
        const options = { count: free, worker_id, leaseMs, attemptsMax, graphs, served };
        const { runs, sinceMs } = await leases.claim(options);
        for (const run of runs) this.#served.note(run);
        await this.#startAll(runs, sinceMs);
        if (runs.length < free) return;
      } finally {
        this.#reserved -= free;
      }
    }
  }

  /** Queues what became ready without anyone's doing. */
  async #tendQueue(): Promise<void> {
    const { leases, queue, attemptsMax } = this.#options;
    await queue.promote();
    for (const run of await leases.recover(attemptsMax)) {
      const worker = run.lost_attempts.at(-1)?.worker ?? 'gone';
      this.recovered.set(worker, (this.recovered.get(worker) ?? 0) + 1);
      if (run.status !== 'pending') this.#endHere(run);
    }
    this.#isPollDue = false;
  }

  async #startAll(claimed: RunRow[], sinceMs: number): Promise<void> {
    for (const run of claimed) if (run.status !== 'running') this.#endHere(run);
    const started = claimed.filter((run) => run.status === 'running');
    if (started.length === 0) return;
    // From before the settings are asked for: a ring that they do not show yet may arrive before them.
    for (const { run_id } of started) this.#starting.set(run_id, []);
    try {
      await this.#startClaimed(started, sinceMs);
    } finally {
      this.#starting.clear();
    }
  }

  async #startClaimed(started: RunRow[], sinceMs: number): Promise<void> {
    const { leases, streams, users } = this.#options;
    const settings = new Map<string, ClaimedSetting>();
    try {
      for (const setting of await leases.settings(started.map((run) => run.run_id))) {
        settings.set(setting.run_id, setting);
      }
    } catch (error) {
      const how = { charge: false, lost: false, reason: (error as Error).message };
      return this.#giveBack(started.map(leaseOf), how);
    }
    for (const run of started) {
      const stream = streams.find(run.run_id);
      const setting = settings.get(run.run_id);
      const command = claimedCommand(run, setting, stream, users);
      if (!('error' in command)) {
        if (setting?.cancelled) this.cancel(run.run_id);
        this.start(command, sinceMs, run.lost_attempts.length);
        continue;
      }
      const error = JSON.stringify(command);
      await leases.stop(leaseOf(run), 'error', 'error', error);
      this.#endHere({ ...run, status: 'error', error });
    }
  }

  #tell(run_id: string, tell: (attempt: Attempt) => void): void {
    this.#starting.get(run_id)?.push(tell);
    const attempt = this.#attempts.find(run_id);
    if (attempt) tell(attempt);
  }

  /** For readers here of a run that was ended without an executor; who follows its log reads it there. */
  #endHere({ run_id, status, error: text }: Pick<RunRow, 'run_id' | 'status' | 'error'>): void {
    const stream = this.#options.streams.find(run_id);
    if (!stream || stream.isFollowed) return;
    const error = JSON.parse(text ?? 'null') as RunOutcome['error'];
    if (error) stream.push(stream.nextId, [['error', JSON.stringify(error)]]);
    this.#options.streams.end(run_id, { status: status as RunStatus, error });
  }

  #onRun(message: AttemptMessage): void {
    const { streams, logger } = this.#options;
    const { run_id, lease_token } = message;
    const attempt = this.#attempts.find(run_id);
    if (attempt?.lease_token !== lease_token) return this.#onLeaving(message);
    const stream = streams.find(run_id);
    if (message.kind === 'events') {
      if (!stream?.hasReaders) attempt.unlisten();
      if (!attempt.isLogOnly) stream?.push(message.first_id, message.events);
      if (message.ack !== undefined) this.#acknowledge(attempt, stream, message.ack);
      return;
    }
    if (message.kind === 'log_only') {
      attempt.isLogOnly = true;
      if (stream) this.#options.tail.follow(stream);
      return;
    }
    if (message.kind === 'done') {
      this.#over(attempt);
      const { status, values, error, stack } = message;
      const ms = Math.round(performance.now() - attempt.startedMs);
      this.#options.onEnded(status, ms);
      if (status === 'error' || status === 'timeout')
        logger.error({ run_id, status, ms, ...error, stack }, 'run failed');
      else logger.info({ run_id, status, ms }, 'run ended');
      // One that is fed by the log ends with it.
      if (!stream?.isFollowed)
        streams.end(run_id, { status, error, ...(values === undefined ? {} : { values }) });
    } else {
      logger.warn({ run_id, reason: message.message }, 'an attempt of a run was lost');
      this.#over(attempt);
      // An outage is no fault of the run. A run that breaks its connections itself must end nevertheless.
      const charge = !message.isOutage || attempt.losses >= outagesMax;
      this.#giveBack([attempt], { charge, lost: true, reason: message.message });
    }
    this.#afterOne();
  }

  /** The executor sends more when readers have taken what it sent; one that takes nothing holds up nobody for long. */
  #acknowledge(attempt: Attempt, stream: RunEventStream | undefined, bytes: number): void {
    const taken = stream?.untilTaken();
    if (taken) void taken.then(() => attempt.acknowledge(bytes));
    else attempt.acknowledge(bytes);
  }

  /** What an attempt says that has lost its lease counts for nothing, save that it has ended. */
  #onLeaving({ kind, run_id, lease_token }: AttemptMessage): void {
    if (kind === 'events') return;
    for (const attempt of this.#leaving) {
      if (attempt.id !== run_id || attempt.lease_token !== lease_token) continue;
      attempt[Symbol.dispose]();
      this.#leaving.delete(attempt);
    }
  }

  /** Runs that were killed for others' sake, or for the database's, are not charged for it. */
  #onExecutorLost(running: AttemptRef[], reason: string, isDeliberate: boolean): void {
    const attempts = running.flatMap(({ run_id, lease_token }) => {
      const attempt = this.#attempts.find(run_id);
      return attempt?.lease_token === lease_token ? [attempt] : [];
    });
    for (const attempt of attempts) this.#over(attempt);
    const killed = attempts.filter((attempt) => attempt.isKilled);
    for (const attempt of killed) this.#stopHere(attempt);
    const others = attempts.filter((attempt) => !attempt.isKilled);
    const isLost = !isDeliberate;
    this.#giveBack(others, { charge: isLost, lost: isLost, reason: `its executor ended (${reason})` });
    this.#afterOne();
  }

  /** Ends the run of an attempt that had to be killed. */
  #stopHere(attempt: Attempt): void {
    const isTimeout = attempt.stopped === 'timeout';
    const error = {
      error: 'RunTimeout',
      message: 'The run took longer than it may, and did not stop when told',
    };
    const text = isTimeout ? JSON.stringify(error) : null;
    const status = isTimeout ? 'timeout' : 'interrupted';
    this.#givings.start(async () => {
      await this.#options.leases.stop(attempt, status, isTimeout ? 'error' : 'as_stored', text);
      this.#endHere({ run_id: attempt.id, status, error: text });
    });
  }

  /**
   * A lease that another worker has: the run is gone, or continues there. One that could not be renewed is given up
   * before it ends: the executor is killed at once, since a graph need not react to a signal.
   */
  #onLeaseLost(attempt: Attempt, { reason, message }: LeaseLoss): void {
    const { logger, streams, leases } = this.#options;
    logger.warn({ run_id: attempt.id, reason, message }, 'lease lost');
    attempt[Symbol.dispose]();
    // A run during which its process stood still is charged: it may be what stopped the process.
    const how = { charge: reason === 'taken', lost: true, reason: message };
    if (reason === 'taken') {
      attempt.stop('lost');
      this.#leaving.add(attempt);
      const stream = streams.find(attempt.id);
      if (stream) this.#options.tail.follow(stream);
      this.#givings.start(() => leases.release([attempt], how));
    } else {
      attempt.kill();
      this.#giveBack([attempt], how);
    }
    this.#checkQuiet();
  }

  /** Readers here then follow the run wherever it goes. */
  #giveBack(attempts: Lease[], how: Release): void {
    if (attempts.length === 0) return;
    const { leases, runs, streams, tail } = this.#options;
    this.#givings.start(async () => {
      for (const { id } of attempts) {
        const stream = streams.find(id);
        if (!stream) continue;
        const status = await runs.follow(id, stream.streamed ? 'events' : 'outcome', stream.nextId);
        if (status === undefined) {
          stream.push(stream.nextId, [['error', JSON.stringify(deleted)]]);
          streams.end(id, { status: 'error', error: deleted });
        } else tail.follow(stream);
      }
      await leases.release(attempts, how);
      this.#claims.trigger();
    });
  }

  async #renew(held: Attempt[]): Promise<ReadonlySet<string>> {
    const renewed = await this.#options.leases.renew(held, this.#options.leaseMs);
    for (const { run_id, log, cancelled } of renewed) {
      if (cancelled) this.cancel(run_id);
      if (log === 'events') this.#attempts.find(run_id)?.listen(true);
    }
    return new Set(renewed.map((run) => run.run_id));
  }

  #over(attempt: Attempt): void {
    attempt[Symbol.dispose]();
    this.#attempts.drop(attempt);
  }

  #afterOne(): void {
    this.#checkQuiet();
    if (this.#wasFull) this.#claims.trigger();
  }

  #checkQuiet(): void {
    if (this.#attempts.size === 0) this.#onQuiet?.();
  }
}

const leaseOf = ({ run_id, lease_token }: RunRow): Lease => ({ id: run_id, lease_token });
