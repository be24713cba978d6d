// Gives runs to executors and holds their leases.
//
//   pending ──claim──▶ running ──done──▶ success | error | interrupted | timeout
//      ▲                  │
//      └── lease ended ◀──┘ executor lost, or this process gone: claimed again, with one attempt more
//
// Claims are asked for when a run was left pending, when a slot or thread may have become free, and by a
// poll that heals whatever was missed. Leases are renewed here, never in the event loop of a graph.
import type { Logger } from 'pino';
import type { RunOutcome, RunStreams } from '../events/run-streams.ts';
import type { Lease, RunRow, RunSetting, RunStorage } from '../storage/runs.ts';
import { ExecutorPool, type PoolOptions } from './executor-pool.ts';
import type { FromExecutor, RunOrder } from './protocol.ts';
import { runOrder } from './run-order.ts';

export interface DispatcherOptions extends Omit<PoolOptions, 'events'> {
  runs: RunStorage;
  streams: RunStreams;
  leaseMs: number;
  attemptsMax: number;
  /** How often to look for runs that nobody announced. */
  pollMs: number;
  logger: Logger;
}

export class Dispatcher {
  readonly pool: ExecutorPool;
  readonly #options: DispatcherOptions;
  readonly #leases = new Map<string, Lease>();
  readonly #timers: NodeJS.Timeout[];
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  /** Runs that this process left pending: while there are any, every run that ends is a reason to claim. */
  readonly #waiting = new Set<string>();
  #reserved = 0;
  #closing = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { setup, executors, jobsPerExecutor, logger } = options;
    this.pool = new ExecutorPool({
      setup,
      executors,
      jobsPerExecutor,
      logger,
      events: {
        onRun: (message) => this.#onRun(message),
        onExit: (running) => this.#onExecutorLost(running),
      },
    });
    this.#timers = [
      setInterval(() => this.#claim(), options.pollMs),
      setInterval(() => void this.#renew(), options.leaseMs / 3),
    ];
  }

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  /** Sets a slot aside for a run that is about to be inserted as claimed; false when all are taken. */
  reserve(): boolean {
    if (this.#closing || this.pool.freeSlots - this.#reserved <= 0) return false;
    this.#reserved += 1;
    return true;
  }

  /** Gives back a slot that reserve() set aside. */
  unreserve(): void {
    this.#reserved -= 1;
  }

  /** Starts a run whose lease was taken for this process. */
  start(order: RunOrder): void {
    this.#waiting.delete(order.run_id);
    this.#leases.set(order.run_id, { run_id: order.run_id, lease_token: order.lease_token });
    this.pool.run(order);
  }

  /** A run was inserted that could not start at once. */
  wake(run_id: string): void {
    this.#waiting.add(run_id);
    this.#claim();
  }

  /** Someone reads the events of a run that may have started without readers. */
  listen(run_id: string): void {
    this.pool.listen(run_id);
  }

  /** Stops an attempt that runs here, if it does. */
  cancel(run_id: string): void {
    this.#waiting.delete(run_id);
    this.pool.cancel(run_id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#claiming;
    await this.pool[Symbol.asyncDispose]();
    if (this.#leases.size > 0) await this.#options.runs.release([...this.#leases.values()]);
    this.#leases.clear();
  }

  #claim(): void {
    if (this.#closing) return;
    if (this.#claiming) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = this.#claimAll()
      .catch((error: unknown) =>
        this.#options.logger.error({ err: error }, 'runs could not be claimed; will try again'),
      )
      .finally(() => {
        this.#claiming = undefined;
        if (!this.#claimAgain) return;
        this.#claimAgain = false;
        this.#claim();
      });
  }

  async #claimAll(): Promise<void> {
    const { runs, leaseMs, attemptsMax } = this.#options;
    for (;;) {
      const free = this.pool.freeSlots - this.#reserved;
      if (free <= 0 || this.#closing) return;
      this.#reserved += free;
      try {
        const claimed = await runs.claim(free, leaseMs, attemptsMax);
        await this.#startAll(claimed);
        if (claimed.length < free) return;
      } finally {
        this.#reserved -= free;
      }
    }
  }

  async #startAll(claimed: RunRow[]): Promise<void> {
    const started = claimed.filter((run) => run.status === 'running');
    for (const run of claimed) if (run.status === 'error') this.#giveUp(run);
    if (started.length === 0) return;
    const settings = new Map<string, RunSetting>();
    for (const setting of await this.#options.runs.settings(started.map((run) => run.run_id))) {
      settings.set(setting.run_id, setting);
    }
    for (const run of started) {
      const setting = settings.get(run.run_id);
      if (setting) this.start(runOrder(run, setting, this.#options.streams.find(run.run_id) ?? {}));
      else
        await this.#options.runs.fail(
          run,
          JSON.stringify({ error: 'AssistantGone', message: 'The assistant of this run is gone' }),
        );
    }
  }

  #giveUp(run: RunRow): void {
    const error = JSON.parse(run.error ?? 'null') as RunOutcome['error'];
    if (error) this.#options.streams.open(run.run_id).push('error', JSON.stringify(error));
    this.#options.streams.end(run.run_id, { status: 'error', error });
  }

  #onRun(message: Exclude<FromExecutor, { kind: 'ready' | 'answer' }>): void {
    const { streams, logger } = this.#options;
    if (message.kind === 'events') {
      const stream = streams.open(message.run_id);
      for (const [event, data] of message.events) stream.push(event, data);
      return;
    }
    this.#leases.delete(message.run_id);
    if (message.kind === 'done') {
      const { status, values, error } = message;
      streams.end(message.run_id, { status, error, ...(values === undefined ? {} : { values }) });
    } else {
      logger.warn({ run_id: message.run_id, reason: message.message }, 'a run was lost to this process');
      streams.end(message.run_id, {
        status: 'error',
        error: { error: 'RunLost', message: 'The run was stopped' },
      });
    }
    if (this.#waiting.size > 0) this.#claim();
  }

  /** Its runs may start again at once: nobody else writes for them. */
  #onExecutorLost(running: string[]): void {
    const leases = running.flatMap((run_id) => this.#leases.get(run_id) ?? []);
    for (const run_id of running) this.#leases.delete(run_id);
    this.#options.runs.release(leases).then(
      () => this.#claim(),
      (error: unknown) =>
        this.#options.logger.error({ err: error }, 'leases will have to run out by themselves'),
    );
  }

  async #renew(): Promise<void> {
    const held = [...this.#leases.values()];
    if (held.length === 0) return;
    try {
      const kept = new Set(await this.#options.runs.renew(held, this.#options.leaseMs));
      for (const { run_id } of held) if (!kept.has(run_id) && this.#leases.has(run_id)) this.cancel(run_id);
    } catch (error) {
      this.#options.logger.error({ err: error }, 'leases could not be renewed');
    }
  }
}
