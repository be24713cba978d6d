// The executors of this server process. An executor that ends is replaced, and the dispatcher gives its runs back.
//
//   shared     as many as the setting says. They take all runs.
//   extra      one more, while runs that compute keep all shared ones busy: it takes only runs of graphs that do not compute
//   solitary   for a run that has lost two attempts: a run that kills executors then harms no other run, and no other run harms it
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { ProcessPool } from '../../jobs/process-pool.ts';
import type { StandbyProcesses } from '../../jobs/standby-processes.ts';
import { solitaryConnections } from '../../storage/postgres/connection-plan.ts';
import { ComputingGraphs } from './computing-graphs.ts';
import { type LoadChange, longBusyMs } from './event-loop-load.ts';
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
  /** Maximum number of solitary executors, with the extra one; further runs wait for one. */
  solitaryMax: number;
  logger: Logger;
  events: ExecutorEvents;
}

/** The extra executor is started when all others have been busy for this long, and ends when it has had no run for `idle`. */
const extraMs = { busy: longBusyMs, idle: 3_600_000 };
/** How often executors that report nothing are looked at. */
const silenceMs = 500;
export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #shared: ProcessPool<ExecutorProcess>;
  readonly #extra: ProcessPool<ExecutorProcess>;
  readonly #solitary: ProcessPool<ExecutorProcess>;
  readonly #computing = new ComputingGraphs();
  /** Solitary executors that wait because `solitaryMax` others have begun. */
  readonly #held = new Set<ExecutorProcess>();
  #report: LoadReport | undefined;
  readonly #silence: NodeJS.Timeout;
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
    this.#extra = new ProcessPool({
      name: 'extra executor',
      start: (onEnd) => this.#startExtra(onEnd),
      idleMs: extraMs.idle,
      logger,
    });
    this.#shared = new ProcessPool({
      name: 'executor',
      start: (onEnd) => this.#startShared(onEnd),
      keep,
      logger,
    });
    this.#silence = setInterval(() => this.#noteSilence(), silenceMs).unref();
  }

  /** A blocked event loop sends no reports. */
  #noteSilence(): void {
    for (const executor of [...this.#shared.active, ...this.#extra.active])
      this.#computing.note(executor.noteSilence(), executor.graphs);
    if (this.#needsExtra()) this.#extra.start();
  }

  /** How many executors have ended by themselves. */
  get crashes(): number {
    return this.#shared.crashes + this.#extra.crashes + this.#solitary.crashes;
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

  /** Slots for runs of any graph. */
  get freeSlots(): number {
    let free = -this.#solitary.size;
    for (const executor of this.#shared.active) free += executor.freeSlots;
    return free;
  }

  /** Slots for runs of graphs that do not compute. */
  get extraSlots(): number {
    return this.#loadedExtra.reduce((free, executor) => free + executor.freeSlots, 0);
  }

  /** Whether runs of the graph keep executors busy. */
  isComputing(graph_id: string): boolean {
    return this.#computing.has(graph_id);
  }

  /** Starts a run on the least loaded executor, or on a solitary one. The caller has made sure that there is a free slot. */
  run(command: RunCommand, isSolitary: boolean): ExecutorProcess {
    const executor = isSolitary ? this.#solitary.start() : this.#executorFor(command.graph_id);
    if (this.#extra.active.has(executor)) this.#extra.use(executor);
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
    clearInterval(this.#silence);
    const pools = [this.#shared, this.#extra, this.#solitary];
    await Promise.all(pools.map((pool) => pool[Symbol.asyncDispose]()));
  }

  /** Where graphs reach the API of this server; null when it has none. */
  setAddress(url: string | null): void {
    this.#address = url;
    for (const { active } of [this.#shared, this.#extra, this.#solitary])
      for (const executor of active) executor.sendAddress(url);
  }

  get #loadedExtra(): ExecutorProcess[] {
    return [...this.#extra.active].filter(({ isLoaded }) => isLoaded);
  }

  /** Runs that compute share the executors evenly. Other runs go to executors that are not busy, if there are any. */
  #executorFor(graph_id: string): ExecutorProcess {
    const { most } = this.#options.slots;
    if (this.#computing.has(graph_id)) return this.#leastLoaded(this.#shared.active);
    const all = [...this.#shared.active, ...this.#loadedExtra];
    return this.#leastLoaded(all, ({ busyMs }) => (busyMs > 0 ? most : 0));
  }

  /** Prefers executors that are ready and have a free slot. */
  #leastLoaded(
    executors: Iterable<ExecutorProcess> = this.#shared.active,
    more: (executor: ExecutorProcess) => number = () => 0,
  ): ExecutorProcess {
    const { most } = this.#options.slots;
    const load = (executor: ExecutorProcess): number =>
      executor.attempts.size +
      (executor.isReady ? 0 : 2 * most) +
      (executor.freeSlots > 0 ? 0 : most) +
      more(executor);
    let best: ExecutorProcess | undefined;
    for (const executor of executors) if (!best || load(executor) < load(best)) best = executor;
    if (!best) throw new Problem('unavailable', 'No executor is running; try again shortly');
    return best;
  }

  #onSlots(executor: ExecutorProcess, change: LoadChange): void {
    this.#computing.note(change, executor.graphs);
    if (this.#needsExtra()) this.#extra.start();
    this.#options.events.onSlots(change);
  }

  /** All shared executors are busy, and some of their runs do not compute. */
  #needsExtra(): boolean {
    if (this.#extra.size > 0 || this.#begun >= this.#options.solitaryMax) return false;
    const shared = [...this.#shared.active];
    return (
      shared.every(({ busyMs }) => busyMs >= extraMs.busy) &&
      shared.some(({ graphs }) => [...graphs].some((graph_id) => !this.#computing.has(graph_id)))
    );
  }

  #startShared(onEnd: (reason: string, fields: object) => void): ExecutorProcess {
    const { setup, events, standby, slots, logger } = this.#options;
    const executor = new ExecutorProcess(
      setup,
      {
        onRun: events.onRun,
        onSlots: (change) => this.#onSlots(executor, change),
        onEasyEnd: (graph_id) => this.#computing.noteEnd(graph_id),
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

  /** It has as many connections as a solitary executor, and counts as one. */
  #startExtra(onEnd: (reason: string, fields: object) => void): ExecutorProcess {
    const { setup, events, slots, logger } = this.#options;
    const executor = new ExecutorProcess(
      ofFewConnections(setup),
      {
        onRun: (message) => {
          events.onRun(message);
          if (executor.attempts.size === 0) this.#extra.rest(executor);
        },
        onSlots: (change) => this.#onSlots(executor, change),
        onEasyEnd: (graph_id) => this.#computing.noteEnd(graph_id),
        onModules: events.onModules,
        onExit: (running, reason, isDeliberate) => {
          onEnd(reason, { runs: runIds(running) });
          this.#beginNext();
          if (!this.#extra.isClosing) events.onExit(running, reason, isDeliberate);
        },
      },
      slots,
      logger,
    );
    if (this.#address !== undefined) executor.sendAddress(this.#address);
    executor.load().then(
      () => {
        this.#extra.rest(executor);
        events.onSlots(undefined);
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
      ofFewConnections(setup),
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

  /** The extra executor, and the solitary ones that have begun. */
  get #begun(): number {
    return this.#extra.size + this.#solitary.size - this.#held.size;
  }

  /** Begins the next solitary executor, unless `solitaryMax` have begun: each needs database connections, which are limited. */
  #beginNext(): void {
    const [next] = this.#held;
    if (!next || this.#begun >= this.#options.solitaryMax) return;
    this.#held.delete(next);
    next.begin();
  }
}

const ofFewConnections = (setup: ExecutorSetup): ExecutorSetup => ({
  ...setup,
  database: { ...setup.database, poolMax: solitaryConnections },
});

const runIds = (running: AttemptRef[]): string[] => running.map(({ run_id }) => run_id);
