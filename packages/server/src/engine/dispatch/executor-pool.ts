// The executors of this server process. An executor that ends is replaced, and the dispatcher gives its runs back. A run that
// has lost two attempts gets a solitary executor: a run that kills executors then harms no other run, and no other run harms it.
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ProcessPool } from '../../jobs/process-pool.ts';
import type { StandbyProcesses } from '../../jobs/standby-processes.ts';
import { solitaryConnections } from '../../storage/postgres/connection-plan.ts';
import { endsAttempt, ExecutorProcess, type AttemptRef, type ExecutorEvents } from './executor-process.ts';
import type { SlotLimits } from './slot-limits.ts';
import type {
  ExecutorSetup,
  IntrospectCommand,
  LoadReport,
  RunCommand,
  StoreIndexCommand,
  UpdateStateCommand,
} from './protocol.ts';

export interface PoolOptions {
  setup: ExecutorSetup;
  executors: number;
  /** Executor processes that have been started already; they are used first. */
  standby?: StandbyProcesses | undefined;
  /** Runs at a time per executor; none on a node that executes no runs. */
  slots: SlotLimits;
  /** Maximum number of solitary executors; further runs wait for one. */
  solitaryMax: number;
  logger: Logger;
  events: ExecutorEvents;
}

export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #shared: ProcessPool<ExecutorProcess>;
  readonly #solitary: ProcessPool<ExecutorProcess>;
  /** Solitary executors that wait because `solitaryMax` others have begun. */
  readonly #held = new Set<ExecutorProcess>();
  #report: LoadReport | undefined;
  #address: string | null | undefined;
  /** Called when an executor has loaded its graphs. Must not throw. */
  onLoaded: () => void = () => undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { executors: keep, logger } = options;
    this.#solitary = new ProcessPool({
      name: 'solitary executor',
      start: (onEnd) => this.#startSolitary(onEnd),
      logger,
    });
    this.#shared = new ProcessPool({
      name: 'executor',
      start: (onEnd) => this.#startShared(onEnd),
      keep,
      logger,
    });
  }

  /** How many executors have ended by themselves. */
  get crashes(): number {
    return this.#shared.crashes + this.#solitary.crashes;
  }

  /** How many executors have loaded their graphs. */
  get loaded(): number {
    return [...this.#shared.active].filter(({ isLoaded }) => isLoaded).length;
  }

  /** Ids of graphs that could not be loaded. */
  get failedGraphs(): string[] {
    return this.#report?.failures.map(({ graph_id }) => graph_id) ?? [];
  }

  /** Whether the embedding model of the store could not be loaded. */
  get isStoreIndexFailed(): boolean {
    return this.#report?.store_index !== undefined;
  }

  /** Runs that executors which have loaded their graphs may have. */
  get capacity(): number {
    return [...this.#shared.active].reduce((sum, one) => sum + (one.isLoaded ? one.capacity : 0), 0);
  }

  get freeSlots(): number {
    let free = -this.#solitary.size;
    for (const executor of this.#shared.active) free += executor.freeSlots;
    return free;
  }

  /** Starts a run on the least loaded executor, or on a solitary one. The caller has made sure that there is a free slot. */
  run(command: RunCommand, isSolitary: boolean): ExecutorProcess {
    const executor = isSolitary ? this.#solitary.start() : this.#leastLoaded();
    executor.run(command);
    if (isSolitary) this.#beginNext();
    return executor;
  }

  update(command: UpdateStateCommand): Promise<unknown> {
    return this.#leastLoaded().update(command);
  }

  /** Work for the index of the store. The answer is not checked. */
  askStoreIndex(command: StoreIndexCommand): Promise<unknown> {
    return this.#leastLoaded().askStoreIndex(command);
  }

  introspect(command: IntrospectCommand): Promise<unknown> {
    return this.#leastLoaded().introspect(command);
  }

  /** Ends all executors. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#shared[Symbol.asyncDispose](), this.#solitary[Symbol.asyncDispose]()]);
  }

  /** Where graphs reach the API of this server; null when it has none. */
  setAddress(url: string | null): void {
    this.#address = url;
    for (const executor of [...this.#shared.active, ...this.#solitary.active]) executor.sendAddress(url);
  }

  /** Prefers executors that are ready and have a free slot. */
  #leastLoaded(): ExecutorProcess {
    const { most } = this.#options.slots;
    const load = (executor: ExecutorProcess): number =>
      executor.attempts.size + (executor.isReady ? 0 : most) + (executor.freeSlots > 0 ? 0 : most);
    let best: ExecutorProcess | undefined;
    for (const executor of this.#shared.active) if (!best || load(executor) < load(best)) best = executor;
    if (!best) throw new Problem('unavailable', 'No executor is running; try again shortly');
    return best;
  }

  #startShared(onEnd: (reason: string, fields: object) => void): ExecutorProcess {
    const { setup, events, standby, slots, logger } = this.#options;
    const executor = new ExecutorProcess(
      setup,
      {
        onRun: events.onRun,
        onSlots: events.onSlots,
        onModules: events.onModules,
        onExit: (running, reason, isDeliberate) => {
          onEnd(reason, { runs: runIds(running) });
          if (!this.#shared.isClosing) events.onExit(running, reason, isDeliberate);
        },
      },
      slots,
      logger,
      { started: standby?.take() },
    );
    if (this.#address !== undefined) executor.sendAddress(this.#address);
    executor.load().then(
      (report) => {
        this.#reportOnce(report);
        this.onLoaded();
      },
      () => undefined, // onExit has reported it
    );
    return executor;
  }

  /** Every executor loads the same files, so the report of the first one is logged. */
  #reportOnce(report: LoadReport): void {
    if (this.#report) return;
    this.#report = report;
    const { logger } = this.#options;
    for (const { graph_id, message } of report.failures) logger.error({ graph_id }, message);
    if (report.store_index !== undefined) logger.error(report.store_index);
    for (const notice of report.notices) logger.warn(notice);
  }

  #startSolitary(onEnd: (reason: string, fields: object) => void): ExecutorProcess {
    const { setup, events, slots, logger } = this.#options;
    const executor = new ExecutorProcess(
      { ...setup, database: { ...setup.database, poolMax: solitaryConnections } },
      {
        onRun: (message) => {
          events.onRun(message);
          if (endsAttempt(message)) this.#solitary.retire(executor);
        },
        onSlots: () => undefined, // it takes no further run
        onModules: events.onModules,
        onExit: (running, reason, isDeliberate) => {
          onEnd(reason, { runs: runIds(running) });
          this.#held.delete(executor);
          this.#beginNext();
          if (!this.#solitary.isClosing) events.onExit(running, reason, isDeliberate);
        },
      },
      slots,
      logger,
      { isHeld: true },
    );
    if (this.#address !== undefined) executor.sendAddress(this.#address);
    this.#held.add(executor);
    return executor;
  }

  /** Begins the next solitary executor, unless `solitaryMax` have begun: each needs database connections, which are limited. */
  #beginNext(): void {
    const [next] = this.#held;
    if (!next || this.#solitary.size - this.#held.size >= this.#options.solitaryMax) return;
    this.#held.delete(next);
    next.begin();
  }
}

const runIds = (running: AttemptRef[]): string[] => running.map(({ run_id }) => run_id);
