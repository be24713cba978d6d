// The executors of this server process. An executor that ends is replaced, and the dispatcher gives its runs back.
//
//   shared     as many as the setting says. They take all runs, from when they are ready.
//   extra      one more, while runs that compute keep all shared ones busy: it takes only runs of graphs that do not compute. Not with a fixed
//              number of slots, which limits how many runs execute
//   solitary   for a run that has lost two attempts: a run that kills executors then harms no other run, and no other run harms it
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { Backoff } from '../../backoff.ts';
import { ProcessPool } from '../../jobs/process-pool.ts';
import type { StandbyProcesses } from '../../jobs/program-process.ts';
import { solitaryConnections } from '../../storage/postgres/connection-plan.ts';
import { ComputingGraphs } from './computing-graphs.ts';
import { type LoadChange, longBusyMs } from './event-loop-load.ts';
import type { CallLimits } from './executor-calls.ts';
import { endsAttempt, ExecutorProcess, type AttemptRef, type ExecutorEvents } from './executor-process.ts';
import type { SlotLimits } from './admission.ts';
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
  /** How long executors may take to answer; the defaults of CallLimits when absent. */
  callLimits?: CallLimits | undefined;
  /** Silence from which an executor that works counts as blocked. */
  blockedMs?: number | undefined;
  logger: Logger;
  events: ExecutorEvents;
}

/** The extra executor ends when it has had no run for this long. */
const extraIdleMs = 300_000;
/** Pauses before it is started again after it has ended by itself, for lack of memory for example. */
const restartMs = { first: 5_000, max: 300_000 };
/** How often executors that report nothing are looked at. */
const silenceMs = 500;

export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #shared: ProcessPool<ExecutorProcess>;
  readonly #extra: ProcessPool<ExecutorProcess>;
  readonly #solitary: ProcessPool<ExecutorProcess>;
  readonly #computing = new ComputingGraphs();
  readonly #restart = new Backoff(restartMs);
  /** Monotonic time before which no extra executor is started. */
  #noExtraUntilMs = 0;
  /** A run has found no slot of a shared executor since these are busy. */
  #lacksSlots = false;
  /** Solitary executors that wait because `solitaryMax` others have begun. */
  readonly #held = new Set<ExecutorProcess>();
  #report: LoadReport | undefined;
  readonly #silence: NodeJS.Timeout;
  #address: string | null | undefined;
  /** Executors that were blocked when they were looked at last. */
  #wereBlocked = 0;
  /** Called when an executor has loaded its graphs, is blocked, or is no longer blocked. Must not throw. */
  onCapacity: () => void = () => undefined;

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
      idleMs: extraIdleMs,
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
      this.#noteLoad(executor, executor.noteSilence());
    this.#startExtraIfNeeded();
    const { blocked } = this;
    if (blocked !== this.#wereBlocked) this.onCapacity();
    this.#wereBlocked = blocked;
  }

  /** How many executors that have loaded their graphs are blocked: they execute no run and answer no request. */
  get blocked(): number {
    return [...this.#shared.active, ...this.#loadedExtra].filter(({ blockedMs }) => blockedMs > 0).length;
  }

  /** How many executors have ended by themselves. */
  get crashes(): number {
    return this.#shared.crashes + this.#extra.crashes + this.#solitary.crashes;
  }

  /** How many executors this process has killed. */
  get kills(): number {
    return this.#shared.kills + this.#extra.kills + this.#solitary.kills;
  }

  /** How many executors have loaded their graphs. */
  get loaded(): number {
    return [...this.#shared.active].filter(({ isLoaded }) => isLoaded).length + this.#loadedExtra.length;
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
    const shared = [...this.#shared.active].reduce((sum, one) => sum + (one.isLoaded ? one.capacity : 0), 0);
    return shared + this.#loadedExtra.reduce((sum, { attempts }) => sum + attempts.size, 0);
  }

  /** Slots for runs of any graph. */
  get freeSlots(): number {
    let free = -this.#solitary.size;
    for (const executor of readyOf(this.#shared.active)) free += executor.freeSlots;
    return free;
  }

  /** Slots for runs of graphs that do not compute, while all shared executors are busy. */
  get extraSlots(): number {
    if (!this.#areBusyFor(1)) return 0;
    const free = this.#loadedExtra.reduce((sum, executor) => sum + executor.freeSlots, 0);
    return Math.max(0, free - this.#solitary.size);
  }

  /** A run has found no slot of a shared executor. */
  noteFull(): void {
    this.#lacksSlots = true;
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
    return this.#forCall().update(command);
  }

  /** Work for the index of the store. The answer is not checked. */
  askStoreIndex(command: StoreIndexCommand): Promise<unknown> {
    return this.#forCall().askStoreIndex(command);
  }

  introspect(command: IntrospectCommand): Promise<unknown> {
    return this.#forCall().introspect(command);
  }

  /** Prefers executors that are not busy, because they answer sooner. */
  #forCall(): ExecutorProcess {
    const { most } = this.#options.slots;
    return this.#leastLoaded(this.#shared.active, ({ busyMs, blockedMs }) =>
      blockedMs > 0 ? 2 * most + 1 : busyMs > 0 ? most : 0,
    );
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
    const shared = readyOf(this.#shared.active);
    if (this.#computing.has(graph_id)) return this.#leastLoaded(shared);
    const all = [...shared, ...this.#loadedExtra];
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

  #noteLoad(executor: ExecutorProcess, change: LoadChange): void {
    this.#computing.note(change, change === 'became_busy' ? executor.busyGraphs : executor.graphs);
  }

  #onSlots(executor: ExecutorProcess, change: LoadChange): void {
    this.#noteLoad(executor, change);
    this.#startExtraIfNeeded();
    this.#options.events.onSlots(change);
  }

  #startExtraIfNeeded(): void {
    if (this.#needsExtra()) this.#extra.start();
  }

  #areBusyFor(ms: number): boolean {
    return [...this.#shared.active].every(({ busyMs }) => busyMs >= ms);
  }

  /** All shared executors are busy, and a run that does not compute waits there, or may wait for a slot. */
  #needsExtra(): boolean {
    const { slots, solitaryMax, setup } = this.#options;
    if (!this.#areBusyFor(1)) this.#lacksSlots = false;
    const isPossible =
      slots.least < slots.most &&
      !this.#shared.isClosing &&
      this.#extra.size === 0 &&
      this.#begun < solitaryMax &&
      performance.now() >= this.#noExtraUntilMs;
    if (!isPossible || !this.#areBusyFor(longBusyMs)) return false;
    const doesWait = (graph_id: string): boolean => !this.#computing.has(graph_id);
    return this.#lacksSlots
      ? setup.graphs.some(([graph_id]) => doesWait(graph_id))
      : [...this.#shared.active].some(({ graphs }) => [...graphs].some(doesWait));
  }

  #startShared(onEnd: (reason: string, fields: object) => void): ExecutorProcess {
    const { setup, events, standby, slots, logger } = this.#options;
    const executor = new ExecutorProcess(
      setup,
      {
        onRun: events.onRun,
        onSlots: (change) => this.#onSlots(executor, change),
        onShortEnd: (graph_id) => this.#computing.noteEnd(graph_id),
        onModules: events.onModules,
        onLogLine: events.onLogLine,
        onFlushTrouble: events.onFlushTrouble,
        onExit: (running, end) => {
          onEnd(end.reason, { runs: runIds(running) });
          if (!this.#shared.isClosing) events.onExit(running, end);
        },
      },
      slots,
      logger,
      { started: standby?.take(), callLimits: this.#options.callLimits, blockedMs: this.#options.blockedMs },
    );
    if (this.#address !== undefined) executor.sendAddress(this.#address);
    executor.ready.then(
      () => events.onSlots(undefined),
      () => undefined, // onExit has reported it
    );
    executor.load().then(
      (report) => {
        this.#reportOnce(report);
        this.onCapacity();
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
        onShortEnd: (graph_id) => this.#computing.noteEnd(graph_id),
        onModules: events.onModules,
        onLogLine: events.onLogLine,
        onFlushTrouble: events.onFlushTrouble,
        onExit: (running, end) => {
          onEnd(end.reason, { runs: runIds(running) });
          if (end.how !== 'killed') this.#noExtraUntilMs = performance.now() + this.#restart.next();
          this.#beginNext();
          if (!this.#extra.isClosing) events.onExit(running, end);
        },
      },
      slots,
      logger,
    );
    if (this.#address !== undefined) executor.sendAddress(this.#address);
    executor.load().then(
      () => {
        this.#restart.reset();
        if (executor.attempts.size === 0) this.#extra.rest(executor);
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
        onLogLine: events.onLogLine,
        onFlushTrouble: events.onFlushTrouble,
        onExit: (running, end) => {
          onEnd(end.reason, { runs: runIds(running) });
          this.#held.delete(executor);
          this.#beginNext();
          if (!this.#solitary.isClosing) events.onExit(running, end);
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

  /** Number of executors that have begun and are not shared. */
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

/** Executors get runs only when they are ready: an executor that fails to start would lose all its runs. */
const readyOf = (executors: Iterable<ExecutorProcess>): ExecutorProcess[] =>
  [...executors].filter(({ isReady }) => isReady);

const ofFewConnections = (setup: ExecutorSetup): ExecutorSetup => ({
  ...setup,
  database: { ...setup.database, poolMax: solitaryConnections },
});

const runIds = (running: AttemptRef[]): string[] => running.map(({ run_id }) => run_id);
