// The executors of this server process. One that dies is replaced; its runs are the dispatcher's to give again.
// A run on its last attempt gets an executor to itself: if it is the one that kills them, nobody else is hurt, and
// if it is not, nobody else can hurt it.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { solitaryConnections } from '../../storage/postgres/connection-plan.ts';
import { endsAttempt, ExecutorProcess, type AttemptRef, type ExecutorEvents } from './executor-process.ts';
import type { ExecutorSetup, IntrospectCommand, RunCommand, UpdateStateCommand } from './protocol.ts';

export interface PoolOptions {
  setup: ExecutorSetup;
  executors: number;
  /** Runs at a time per executor; 0 where graphs are only looked at. */
  jobsPerExecutor: number;
  /** Executors at once that have one run each; further runs wait for one. */
  solitaryMax: number;
  logger: Logger;
  events: ExecutorEvents;
}

/** Doubles with every executor in a row that ends before it was ready; then waiting helps little. */
const respawnDelayMaxMs = 5_000;

export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #executors = new Set<ExecutorProcess>();
  readonly #solitary = new Set<ExecutorProcess>();
  /** Those of them that may not begin yet. */
  readonly #held = new Set<ExecutorProcess>();
  #closing = false;
  #failures = 0;
  /** Called when an executor has loaded its graphs. Must not throw. */
  onLoaded: () => void = () => undefined;
  /** How many executors have ended by themselves. */
  crashes = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    for (let count = 0; count < options.executors; count++) this.#spawn();
  }

  /** How many executors have loaded their graphs. */
  get loaded(): number {
    return [...this.#executors].filter(({ isLoaded }) => isLoaded).length;
  }

  /** Of executors that have loaded their graphs. */
  get loadedSlots(): number {
    return this.loaded * this.#options.jobsPerExecutor;
  }

  get freeSlots(): number {
    let free = -this.#solitary.size;
    for (const executor of this.#executors) free += this.#options.jobsPerExecutor - executor.attempts.size;
    return free;
  }

  /** Starts a run on the least loaded executor, or on one of its own. The caller has made sure that there is a free slot. */
  run(command: RunCommand, isAlone: boolean): ExecutorProcess {
    const executor = isAlone ? this.#spawnSolitary() : this.#leastLoaded();
    executor.run(command);
    return executor;
  }

  update(command: UpdateStateCommand): Promise<unknown> {
    return this.#leastLoaded().update(command);
  }

  introspect(command: IntrospectCommand): Promise<unknown> {
    return this.#leastLoaded().introspect(command);
  }

  /** Ends every executor at once; the others come back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#executors, ...this.#solitary].map((executor) => executor.stop()));
  }

  /** One that is up before one that is about to be, if it has room. */
  #leastLoaded(): ExecutorProcess {
    const load = ({ isReady, attempts }: ExecutorProcess): number =>
      isReady ? attempts.size : attempts.size + this.#options.jobsPerExecutor;
    let best: ExecutorProcess | undefined;
    for (const executor of this.#executors) if (!best || load(executor) < load(best)) best = executor;
    if (!best) throw new Problem('unavailable', 'No executor is up at the moment; try again shortly');
    return best;
  }

  #spawn(): void {
    const { setup, events, logger } = this.#options;
    const spawned: ExecutorEvents = {
      onRun: events.onRun,
      onModules: events.onModules,
      onExit: (running, reason, isDeliberate) => {
        this.#executors.delete(executor);
        if (this.#closing) return;
        this.crashes += 1;
        logger.error({ reason, runs: runIds(running) }, 'an executor ended; starting another');
        events.onExit(running, reason, isDeliberate);
        const delayMs = this.#failures === 0 ? 0 : Math.min(50 * 2 ** this.#failures, respawnDelayMaxMs);
        this.#failures += 1;
        setTimeout(() => this.#closing || this.#spawn(), delayMs);
      },
    };
    const executor = new ExecutorProcess(setup, spawned, logger);
    this.#executors.add(executor);
    executor.ready.then(
      () => (this.#failures = 0),
      () => undefined, // onExit has reported it
    );
    executor.load().then(
      () => this.onLoaded(),
      () => undefined, // as above
    );
  }

  #spawnSolitary(): ExecutorProcess {
    const { events, logger } = this.#options;
    const setup = {
      ...this.#options.setup,
      database: { ...this.#options.setup.database, poolMax: solitaryConnections },
    };
    const spawned: ExecutorEvents = {
      onRun: (message) => {
        events.onRun(message);
        if (endsAttempt(message)) void executor.stop();
      },
      onModules: events.onModules,
      onExit: (running, reason, isDeliberate) => {
        this.#solitary.delete(executor);
        this.#held.delete(executor);
        this.#beginNext();
        if (this.#closing || running.length === 0) return;
        this.crashes += 1;
        logger.error({ reason, runs: runIds(running) }, 'an executor with one run ended');
        events.onExit(running, reason, isDeliberate);
      },
    };
    const executor = new ExecutorProcess(setup, spawned, logger, { isHeld: true });
    this.#solitary.add(executor);
    this.#held.add(executor);
    this.#beginNext();
    return executor;
  }

  /** Each takes connections, of which there are so many. */
  #beginNext(): void {
    const [next] = this.#held;
    if (!next || this.#solitary.size - this.#held.size >= this.#options.solitaryMax) return;
    this.#held.delete(next);
    next.begin();
  }
}

const runIds = (running: AttemptRef[]): string[] => running.map(({ run_id }) => run_id);
