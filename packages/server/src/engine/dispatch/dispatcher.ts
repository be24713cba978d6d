// Gives runs to executors and holds their leases.
//
//   pending ──claim──▶ running ──done──▶ success | error | interrupted | timeout
//      ▲                  │
//      ├── released ◀─────┤ executor lost, server stopped, database unavailable: given back
//      └── lease over ◀───┘ this process has ended: any worker recovers the run (see also dead-workers.ts)
//
// Runs are claimed after a notification, when a slot becomes free after all were in use, and after each poll. A poll first queues
// delayed runs that are due, and runs with expired leases. Leases are renewed here, never in the event loop of a graph.
import { LeaseKeeper, type LeaseLoss, type LossReason } from '../../jobs/lease-keeper.ts';
import type { WorkerState } from '../../storage/deployment/runs/run-rows.ts';
import { Attempt, type AttemptOutcome } from './attempt.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { AttemptRef, ExecutorEnd, ExecutorProcess } from './executor-process.ts';
import { ExecutorPool } from './executor-pool.ts';
import type { AttemptMessage, RunCommand } from './protocol.ts';
import { RunClaims } from './run-claims.ts';
import { type LossCause, RunEndings } from './run-endings.ts';
import { WorkerLoop } from '../../jobs/worker-loop.ts';
import { StoppingAttempts } from './stopping-attempts.ts';

/** How often a server that stops looks for runs that have no reader, so a short run ends here; and how long a reload waits for supersteps. */
const drainMs = 2_000;

export class Dispatcher {
  readonly pool: ExecutorPool;
  /** Ids of the graphs that are executed here. */
  readonly graphs: readonly string[];
  readonly #options: DispatcherOptions;
  readonly #attempts: LeaseKeeper<Attempt>;
  readonly #stopping: StoppingAttempts;
  readonly #endings: RunEndings;
  readonly #claims: RunClaims;
  /** Queues delayed runs that are due, and runs with expired leases; undefined where no runs are executed. */
  readonly #queue: WorkerLoop | undefined;
  #draining = false;
  /** Ended leases of other workers that were found here, by the state of the worker. */
  readonly recovered = new Map<WorkerState, number>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.graphs = options.setup.graphs.map(([graph_id]) => graph_id);
    const { setup, executors, standby, slots, solitaryMax, logger, leaseMs, pollMs, notifications } = options;
    const executesRuns = slots.most > 0;
    this.#endings = new RunEndings(options, () => this.#claims.wake());
    this.#stopping = new StoppingAttempts(options, this.#endings);
    this.#attempts = new LeaseKeeper({
      leaseMs,
      renew: (held) => this.#renew(held),
      onLost: (attempt, loss) => this.#onLeaseLost(attempt, loss),
      logger,
    });
    this.pool = new ExecutorPool({
      setup,
      executors,
      standby,
      slots,
      solitaryMax,
      logger,
      events: {
        onRun: (message) => this.#onRun(message),
        onSlots: () => this.#claims.slotFreed(),
        onModules: (files) => options.onModules?.(files),
        onLogLine: options.onLogLine,
        onFlushTrouble: options.onFlushTrouble,
        onExit: (running, end) => this.#onExecutorLost(running, end),
      },
    });
    this.#claims = new RunClaims({
      ...options,
      pool: this.pool,
      graphs: this.graphs,
      endings: this.#endings,
      running: () => this.#attempts.size,
      start: (command, sinceMs, how) => this.start(command, sinceMs, how),
      cancel: (run_id) => this.cancel(run_id),
      notifications: executesRuns ? notifications : undefined,
    });
    this.#queue = executesRuns
      ? new WorkerLoop({ task: 'queue due runs', claim: () => this.#queueDueRuns(), pollMs, logger })
      : undefined;
    notifications.on('c', (run_id) => this.cancel(run_id));
    notifications.on('i', (run_id) => this.#withAttempt(run_id, (attempt) => attempt.takeInputs()));
    notifications.on('l', (run_id) => this.#withAttempt(run_id, (attempt) => attempt.listen(true)));
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

  /** Runs that this process claimed and gave back before they started. */
  get unstarted(): number {
    return this.#claims.unstarted;
  }

  /** Attempts that this process has lost and released, by cause. */
  get attemptsLost(): ReadonlyMap<LossCause, number> {
    return this.#endings.losses;
  }

  /** True when an attempt of the run executes here. */
  has(run_id: string): boolean {
    return this.#attempts.find(run_id) !== undefined;
  }

  /** True while this attempt executes here. */
  isExecuting({ run_id, lease_token }: AttemptRef): boolean {
    return this.#attempts.find(run_id)?.lease_token === lease_token;
  }

  /**
   * True when this process may start a run that was stored as claimed by it at that time: the run is not started yet, and
   * its lease is valid.
   */
  mayStart(run_id: string, sinceMs: number): boolean {
    return !this.has(run_id) && !this.#claims.isStarting(run_id) && this.#attempts.isGood(sinceMs);
  }

  /** Sets a slot aside for a run that is about to be inserted as claimed; false when none is free. */
  reserve(): boolean {
    return !this.#draining && this.#claims.reserve();
  }

  /** True when readers here have not been sent all events of earlier attempts: they continue to read the log. */
  #isLogAhead({ run_id, logged, first_event_id }: RunCommand): boolean {
    const stream = this.#options.streams.find(run_id);
    return logged && stream !== undefined && stream.isFollowed && stream.nextId < first_event_id;
  }

  /** Gives back a slot that reserve() set aside. */
  unreserve(): void {
    this.#claims.unreserve();
  }

  /**
   * Starts a run whose lease was taken for this process. `sinceMs`: monotonic time from before the claim. `waitedMs`: how long the
   * run was pending. The last attempt of a run gets a solitary executor. A run whose lease is over, because the database was slow, is
   * given back.
   */
  start(
    command: RunCommand,
    sinceMs: number,
    { losses = 0, waitedMs }: { losses?: number; waitedMs?: number | undefined } = {},
  ): void {
    const lease = { id: command.run_id, lease_token: command.lease_token };
    if (!this.#attempts.isGood(sinceMs)) {
      const seconds = ((performance.now() - sinceMs) / 1_000).toFixed(1);
      const reason = `the claim was answered after ${seconds} s, too late to start the run`;
      return this.#claims.giveBackUnstarted([lease], { charge: false, reason });
    }
    const isSolitary = Math.max(command.attempt - 1, losses) >= Math.max(this.#options.attemptsMax - 1, 1);
    let executor: ExecutorProcess;
    try {
      executor = this.pool.run(command, isSolitary);
    } catch (error) {
      // The last executor ended while the run was claimed.
      return this.#claims.giveBackUnstarted([lease], { charge: false, reason: (error as Error).message });
    }
    const attempt = new Attempt(command, executor, this.#options.limits);
    attempt.onEnd = this.#options.observeAttempt?.({ command, sinceMs, waitedMs });
    attempt.isLogOnly = this.#isLogAhead(command);
    if (!attempt.isLogOnly) this.#options.tail.unfollow(command.run_id);
    this.#attempts.keep(attempt, sinceMs);
    this.#claims.noteStarted(attempt);
  }

  /** Gives back runs after a failed request. The database may have stored them as claimed by this process; they have not started. */
  giveBackCreated(run_ids: string[]): void {
    if (run_ids.length === 0) return;
    const isUnstarted = (id: string): boolean => !this.has(id) && !this.#claims.isStarting(id);
    this.#endings.giveBackCreated(() => run_ids.filter(isUnstarted));
  }

  /** A reader here needs the events of a run that may have started without readers. */
  listen(run_id: string): void {
    const attempt = this.#attempts.find(run_id);
    const stream = this.#options.streams.find(run_id);
    if (attempt?.isLogOnly && stream) this.#options.tail.follow(stream);
    else attempt?.listen(false);
  }

  /** Stops the attempt of the run if it executes here or is about to. */
  cancel(run_id: string): void {
    this.#withAttempt(run_id, (attempt) => attempt.stop('cancelled'));
  }

  /**
   * Claims no more runs. Runs that do not end soon and have no reader here are given back before their next superstep. Resolves when no
   * run is executed here, after `graceMs`, or when `hurry` is aborted. Runs that remain are given back later as if they had not been
   * started.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    await this.#stopQueue();
    const timer = setInterval(() => this.#drainUnread(), drainMs);
    await this.#claims.drain(graceMs, hurry).finally(() => clearInterval(timer));
  }

  /** A run with a reader here continues, because the reader would lose its connection when this process ends. */
  #drainUnread(): void {
    for (const attempt of this.#attempts.all()) {
      const stream = this.#options.streams.find(attempt.id);
      if (!stream?.hasReaders && !stream?.hasWaiters) attempt.drain();
    }
  }

  /**
   * Stops executing runs and gives them back, so that other workers continue them: before their next superstep, or at once after `drainMs`.
   * Readers on this node then read the logs of the runs. Resolves when the runs are given back.
   */
  async handOver(): Promise<void> {
    await this.#stopQueue();
    for (const attempt of this.#attempts.all()) attempt.drain();
    await this.#claims.drain(drainMs);
    const left = await this.#stopExecuting();
    this.#endings.giveBack(left, { charge: false, reason: 'the server handed its runs over' });
    await this.#endings.writes.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endings.writes.stop();
    const left = await this.#stopExecuting();
    this.#attempts[Symbol.dispose]();
    await this.#endings.writes[Symbol.asyncDispose]();
    this.#stopping[Symbol.dispose]();
    await this.#endings.release(left);
  }

  /** From now on this process takes no new runs. */
  async #stopQueue(): Promise<void> {
    this.#draining = true;
    await this.#queue?.stop();
  }

  /** Returns the attempts that had not ended. */
  async #stopExecuting(): Promise<Attempt[]> {
    await this.#stopQueue();
    await this.#claims.stop();
    await this.pool[Symbol.asyncDispose]();
    const left = this.#attempts.all();
    for (const attempt of left) this.#drop(attempt, 'released');
    return left;
  }

  /** Queues runs whose leases have ended, without waiting for the next poll. */
  queueLostRuns(): void {
    this.#queue?.wake();
  }

  /** Queues delayed runs that are due and runs with expired leases, then claims. */
  async #queueDueRuns(): Promise<void> {
    const { leases, queue, attemptsMax } = this.#options;
    await queue.promote();
    for (const run of await leases.recover(attemptsMax)) {
      const worker = run.lost_attempts.at(-1)?.worker ?? 'gone';
      this.recovered.set(worker, (this.recovered.get(worker) ?? 0) + 1);
      if (run.status !== 'pending') this.#endings.endStream(run);
    }
    this.#claims.wake();
  }

  /** Calls `act` with the attempt of the run, now or when a claimed run starts. Does nothing for other runs. */
  #withAttempt(run_id: string, act: (attempt: Attempt) => void): void {
    this.#claims.whenStarted(run_id, act);
    const attempt = this.#attempts.find(run_id);
    if (attempt) act(attempt);
  }

  #onRun(message: AttemptMessage): void {
    const { streams, logger } = this.#options;
    const { run_id, lease_token } = message;
    const attempt = this.#attempts.find(run_id);
    if (attempt?.lease_token !== lease_token) return this.#stopping.receive(message);
    const stream = streams.find(run_id);
    if (message.kind === 'events') {
      if (!stream?.hasReaders) attempt.unlisten();
      if (!attempt.isLogOnly) stream?.push(message.first_id, message.events);
      if (message.ack !== undefined) void attempt.acknowledge(message.ack, stream?.untilConsumed());
      return;
    }
    if (message.kind === 'log_only') {
      attempt.isLogOnly = true;
      if (stream) this.#options.tail.follow(stream);
      return;
    }
    if (message.kind === 'aborted') return attempt.aborted(message.error);
    if (message.kind === 'graph_ended') return attempt.graphEnded();
    if (message.kind === 'done') {
      this.#drop(attempt, message.status);
      const { status, error, stack } = message;
      const ms = Math.round(performance.now() - attempt.startedMs);
      this.#options.onEnded(status, ms);
      if (status === 'error' || status === 'timeout')
        logger.error({ run_id, status, ms, ...error, stack }, 'run failed');
      else logger.info({ run_id, status, ms }, 'run ended');
      this.#endings.endReported(message);
    } else if (message.kind === 'drained') {
      this.#drop(attempt, 'released');
      this.#endings.giveBack([attempt], { charge: false, reason: 'the server is stopping' });
    } else {
      logger.warn({ run_id, reason: message.message }, 'an attempt of a run was lost');
      this.#drop(attempt, 'lost');
      const reason = message.message;
      this.#endings.giveBack([attempt], { charge: !message.isOutage, reason, cause: 'unstored' });
    }
    this.#claims.slotFreed();
  }

  /** Runs are charged only when one of them may have ended the executor. */
  #onExecutorLost(running: AttemptRef[], { how, reason }: ExecutorEnd): void {
    this.#stopping.executorLost(running);
    const attempts = running.flatMap(({ run_id, lease_token }) => {
      const attempt = this.#attempts.find(run_id);
      return attempt?.lease_token === lease_token ? [attempt] : [];
    });
    for (const attempt of attempts)
      this.#drop(attempt, attempt.isKilled ? attempt.killedOutcome.status : 'lost');
    const killed = attempts.filter((attempt) => attempt.isKilled);
    for (const attempt of killed) this.#endings.endKilled(attempt);
    const others = attempts.filter((attempt) => !attempt.isKilled);
    const message =
      how === 'killed' ? `its executor was killed: ${reason}` : `its executor ended (${reason})`;
    this.#endings.giveBack(others, { charge: how === 'crashed', reason: message, cause: endCauses[how] });
    this.#claims.slotFreed();
  }

  /**
   * If another worker has the lease, the run continues there, or it was deleted. If the lease could not be renewed, the
   * executor is killed before the lease ends, because a graph may ignore an abort signal.
   */
  #onLeaseLost(attempt: Attempt, { reason, message }: LeaseLoss): void {
    const { logger, leases } = this.#options;
    logger.warn({ run_id: attempt.id, reason, message }, 'lease lost');
    attempt.decide('lost');
    const how = { charge: false, reason: message };
    if (reason === 'taken') {
      // Another worker has recorded the loss, and gets the reason.
      this.#stopping.stop(attempt);
      void this.#endings.writes.start(() => leases.release([attempt], { ...how, lost: true }));
    } else {
      attempt.kill(`the lease of run ${attempt.id} was lost: ${message}`);
      this.#endings.giveBack([attempt], { ...how, cause: 'lease' });
    }
    this.#claims.slotFreed();
  }

  async #renew(held: Attempt[]): Promise<ReadonlySet<string>> {
    const renewed = await this.#options.leases.renew(held, this.#options.leaseMs);
    for (const { run_id, log, cancelled, has_inputs } of renewed) {
      if (cancelled) this.cancel(run_id);
      if (has_inputs) this.#attempts.find(run_id)?.takeInputs();
      if (log === 'events') this.#attempts.find(run_id)?.listen(true);
    }
    return new Set(renewed.map((run) => run.run_id));
  }

  #drop(attempt: Attempt, outcome: AttemptOutcome): void {
    attempt.decide(outcome);
    attempt[Symbol.dispose]();
    this.#attempts.drop(attempt);
  }
}

const endCauses = {
  crashed: 'executor_ended',
  killed: 'executor_killed',
  not_started: 'unstarted',
} as const satisfies Record<ExecutorEnd['how'], LossCause>;
