// The server's side of one executor: sends it commands and keeps track of its attempts and calls.
import type { ChildProcess } from 'node:child_process';
import { Problem } from '@svc/contract/problem';
import type { Logger } from 'pino';
import { executorEnvironment } from '../../config/environment.ts';
import { settledWithin } from '../../backoff.ts';
import { programFile } from '../../config/programs.ts';
import type { PooledProcess } from '../../jobs/process-pool.ts';
import { ProgramProcess, type ProgramLaunch } from '../../jobs/program-process.ts';
import { Admission, type SlotLimits } from './admission.ts';
import { type CallLimits, defaultCallLimits, ExecutorCalls, type LateCall } from './executor-calls.ts';
import { EventLoopLoad, type LoadChange, longBusyMs } from './event-loop-load.ts';
import { parseFromExecutor, parseLoadReport } from './executor-message.ts';
import type {
  AttemptMessage,
  EventLoopReport,
  ExecutorLogLine,
  FlushTrouble,
  ExecutorSetup,
  FromExecutor,
  ImportThreadAnswer,
  ImportThreadCommand,
  IntrospectCommand,
  LoadReport,
  RunCommand,
  StopReason,
  StoreIndexCommand,
  ToExecutor,
  UpdateStateCommand,
} from './protocol.ts';

/** An attempt: a run under one of its lease tokens. */
export interface AttemptRef {
  run_id: string;
  lease_token: number;
}

export interface ExecutorEvents {
  onRun: (message: AttemptMessage) => void;
  /** The executor may take another number of runs than before. `change`: what its event loop says about its runs. */
  onSlots: (change: LoadChange) => void;
  /** A run of the graph has ended that was short, or did not keep the event loop busy for long. */
  onShortEnd?: (graph_id: string) => void;
  /** Called with files of modules that the process loaded. */
  onModules: (files: string[]) => void;
  /** Called with the lines of its log, if its setup says that it sends them. */
  onLogLine?: ((line: ExecutorLogLine) => void) | undefined;
  onFlushTrouble?: ((trouble: FlushTrouble) => void) | undefined;
  /** The process has ended. `running`: its attempts. */
  onExit: (running: AttemptRef[], end: ExecutorEnd) => void;
}

export interface ExecutorEnd {
  /** `crashed`: by itself. `killed`: by this process. `not_started`: by itself before it was ready, so it has executed none of its runs. */
  how: 'crashed' | 'killed' | 'not_started';
  reason: string;
}

/** An executor that works sends a report every 200 ms. From this silence on, its event loop is blocked. */
const blockedAfterMs = 20_000;
/** A call that was sent at most so long before the silence began may be its reason. */
const reportsMs = 600;

/** How long an executor that stops may take to store its traces. */
const flushMsMax = 5_000;

/** Whether the message is the last one of its attempt. */
export const endsAttempt = ({ kind }: AttemptMessage): boolean =>
  kind === 'done' || kind === 'lost' || kind === 'drained';

export const attemptKey = ({ run_id, lease_token }: AttemptRef): string => `${run_id} ${lease_token}`;

const entry = programFile('executor.js');

/** Node 22 has the faster AsyncLocalStorage behind a flag; from 24 on it is the default. */
const execArgv = process.versions.node.startsWith('22.') ? ['--experimental-async-context-frame'] : [];

/** How an executor is started. `tsconfig`: path of the project's tsconfig.json, if it has one. */
export const executorProgram = (tsconfig: string | undefined): ProgramLaunch => ({
  program: entry,
  args: tsconfig === undefined ? [] : [tsconfig],
  execArgv,
  env: executorEnvironment(),
});

export class ExecutorProcess implements PooledProcess {
  /** By run id and lease token. */
  readonly attempts = new Map<string, AttemptRef & { graph_id: string; begunMs: number }>();
  /** True when the modules of all graphs are loaded, or have failed to load. */
  isLoaded = false;
  readonly #child: ProgramProcess<ToExecutor, FromExecutor>;
  readonly #events: ExecutorEvents;
  readonly #calls: ExecutorCalls;
  readonly #callLimits: CallLimits;
  readonly #blockedAfterMs: number;
  /** Monotonic time of its last message, or of the beginning of its work. */
  #heardMs = performance.now();
  /** Monotonic time since which its Python process does not respond; undefined when it does. */
  #silentSinceMs: number | undefined;
  /** Why this process has killed it; undefined when it has not. */
  killReason: string | undefined;
  readonly #isTracing: boolean;
  readonly #admission: Admission;
  readonly #load = new EventLoopLoad();
  /** Messages that are sent at begin(); undefined afterwards. */
  #held: ToExecutor[] | undefined;

  /**
   * `isHeld`: the process connects to no database and executes no run before begin(). `started`: a process of executorProgram() that
   * is used instead of a new one.
   */
  constructor(
    setup: ExecutorSetup,
    events: ExecutorEvents,
    limits: SlotLimits,
    logger: Logger,
    {
      isHeld = false,
      started,
      callLimits = defaultCallLimits,
      blockedMs = blockedAfterMs,
    }: {
      isHeld?: boolean;
      started?: ChildProcess | undefined;
      callLimits?: CallLimits | undefined;
      blockedMs?: number | undefined;
    } = {},
  ) {
    this.#callLimits = callLimits;
    this.#blockedAfterMs = blockedMs;
    this.#calls = new ExecutorCalls((call) => this.#onLateCall(call));
    if (isHeld) this.#held = [];
    this.#events = events;
    this.#admission = new Admission(limits);
    this.#isTracing = setup.tracing !== undefined;
    this.#child = new ProgramProcess({
      name: 'executor',
      ...executorProgram(setup.tsconfig),
      started,
      parse: parseFromExecutor,
      onMessage: (message) => {
        this.#heardMs = performance.now();
        if (message.kind === 'answer') this.#calls.answer(message.call, message.value, message.problem);
        else if (message.kind === 'modules') events.onModules(message.files);
        else if (message.kind === 'log') events.onLogLine?.(message);
        else if (message.kind === 'flush_trouble') events.onFlushTrouble?.(message.trouble);
        else if (message.kind === 'event_loop') this.#onEventLoop(message);
        else this.#run(message);
      },
      onEnd: (reason) => this.#end(reason),
      logger,
    });
    this.#send({ kind: 'setup', setup });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ready(): Promise<void> {
    return this.#child.ready;
  }

  get isReady(): boolean {
    return this.#child.isReady;
  }

  begin(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) this.#send(message);
  }

  /** Monotonic time at which its event loops have responded. */
  get #respondedMs(): number {
    return Math.min(this.#heardMs, this.#silentSinceMs ?? this.#heardMs);
  }

  /**
   * For how long its event loop, or that of its Python process, has been blocked, in milliseconds: it works, and has not responded for long.
   * 0 when it is not.
   */
  get blockedMs(): number {
    if (!this.isLoaded || this.attempts.size + this.#calls.size === 0) return 0;
    const silentMs = performance.now() - this.#respondedMs;
    return silentMs < this.#blockedAfterMs ? 0 : silentMs;
  }

  /** How many runs it takes in addition now. It may have more than it would take. */
  get freeSlots(): number {
    if (this.blockedMs > 0) return 0;
    return Math.max(0, this.#admission.slots(this.attempts.size, performance.now()) - this.attempts.size);
  }

  /** How many runs it may have after further reports like the last one. */
  get capacity(): number {
    if (this.blockedMs > 0) return 0;
    return this.#admission.capacity(this.attempts.size, performance.now());
  }

  /** For how long its runs have kept the event loop busy, in milliseconds; 0 when they do not. */
  get busyMs(): number {
    return this.#isReporting ? this.#load.busyMs(performance.now()) : 0;
  }

  /** Whether its event loop, which has reported nothing for long, has become busy. */
  noteSilence(): LoadChange {
    return this.#isReporting ? this.#load.noteSilence(performance.now()) : undefined;
  }

  /** While it loads its graphs, its event loop is busy with that. */
  get #isReporting(): boolean {
    return this.isLoaded && this.attempts.size > 0;
  }

  /** The graphs of its runs. */
  get graphs(): ReadonlySet<string> {
    return new Set([...this.attempts.values()].map(({ graph_id }) => graph_id));
  }

  /** The graphs of those runs that may have made it busy. */
  get busyGraphs(): ReadonlySet<string> {
    const runs = [...this.attempts.values()].filter(({ begunMs }) => this.#load.mayBeReason(begunMs));
    return new Set(runs.map(({ graph_id }) => graph_id));
  }

  /** Where graphs reach the API of this server; null when it has none. */
  sendAddress(url: string | null): void {
    this.#send({ kind: 'address', url });
  }

  run(command: RunCommand): void {
    const { run_id, lease_token, graph_id } = command;
    this.#noteWork();
    if (this.attempts.size === 0) {
      this.#admission.begin(performance.now());
      this.#load.begin(performance.now());
    }
    this.attempts.set(attemptKey(command), { run_id, lease_token, graph_id, begunMs: performance.now() });
    this.#send({ kind: 'run', command });
  }

  cancel({ run_id, lease_token }: AttemptRef, why: StopReason): void {
    this.#send({ kind: 'cancel', run_id, lease_token, why });
  }

  drain({ run_id, lease_token }: AttemptRef): void {
    this.#send({ kind: 'drain', run_id, lease_token });
  }

  takeInputs({ run_id, lease_token }: AttemptRef): void {
    this.#send({ kind: 'inputs', run_id, lease_token });
  }

  listen({ run_id, lease_token }: AttemptRef, logged: boolean): void {
    this.#send({ kind: 'listen', run_id, lease_token, logged });
  }

  unlisten({ run_id, lease_token }: AttemptRef): void {
    this.#send({ kind: 'unlisten', run_id, lease_token });
  }

  acknowledge({ run_id, lease_token }: AttemptRef, bytes: number): void {
    this.#send({ kind: 'ack', run_id, lease_token, bytes });
  }

  update(command: UpdateStateCommand): Promise<unknown> {
    return this.#call(this.#callLimits.update, (call) => ({ kind: 'update', call, command }));
  }

  /** Resolves when the modules of all graphs are loaded, or have failed to load; rejects when the process ends before. */
  async load(): Promise<LoadReport> {
    const report = parseLoadReport(await this.#call(undefined, (call) => ({ kind: 'load', call })));
    this.isLoaded = true;
    this.#heardMs = performance.now();
    this.#load.begin(performance.now());
    return report;
  }

  /** Work for the index of the store. The answer is not checked. */
  askStoreIndex(command: StoreIndexCommand): Promise<unknown> {
    return this.#call(this.#callLimits.storeIndex, (call) => ({ kind: 'store_index', call, command }));
  }

  /** Imports a thread from the files of another server. */
  importThread(command: ImportThreadCommand): Promise<ImportThreadAnswer> {
    const message = (call: number): ToExecutor => ({ kind: 'import_thread', call, command });
    return this.#call(this.#callLimits.import, message, true) as Promise<ImportThreadAnswer>;
  }

  introspect(command: IntrospectCommand): Promise<unknown> {
    return this.#call(this.#callLimits.introspect, (call) => ({ kind: 'introspect', call, command }));
  }

  /** Ends the process at once, whatever it does. */
  kill(reason: string): void {
    this.killReason ??= reason;
    this.#child.kill();
  }

  /** Ends the process when it has stored its traces, or after `flushMsMax`. */
  async stop(): Promise<void> {
    this.killReason ??= 'it was stopped';
    if (this.#isTracing && this.isReady && this.#child.isAlive) {
      const flush = this.#call(flushMsMax, (call) => ({ kind: 'flush', call }));
      await settledWithin(flush, flushMsMax).catch(() => undefined); // the process has ended
    }
    await this.#child.end();
  }

  #call(
    limitMs: number | undefined,
    message: (call: number) => ToExecutor,
    isExclusive = false,
  ): Promise<unknown> {
    this.#noteWork();
    return this.#calls.start(limitMs, (call) => this.#send(message(call)), isExclusive);
  }

  /** An idle executor sends nothing. */
  #noteWork(): void {
    if (this.attempts.size + this.#calls.size > 0) return;
    this.#heardMs = performance.now();
    this.#silentSinceMs = undefined;
  }

  /**
   * Kills the executor if the call may have blocked its event loop: nobody else would end that. A run that blocks it may need that time; it
   * ends after its own time limit.
   */
  #onLateCall({ sentMs, limitMs, isExclusive }: LateCall): boolean {
    const hasBlocked = this.blockedMs > 0 && this.#respondedMs >= sentMs - reportsMs;
    if (!hasBlocked && !isExclusive) return false;
    this.kill(`it did not answer a request within ${limitMs / 1_000} s, and was blocked by it`);
    return true;
  }

  #send(message: ToExecutor): void {
    if (this.#held) this.#held.push(message);
    else this.#child.send(message);
  }

  #run(message: AttemptMessage): void {
    if (endsAttempt(message)) {
      const attempt = this.attempts.get(attemptKey(message));
      if (attempt && Math.min(this.busyMs, performance.now() - attempt.begunMs) < longBusyMs)
        this.#events.onShortEnd?.(attempt.graph_id);
      this.attempts.delete(attemptKey(message));
    }
    this.#events.onRun(message);
  }

  #onEventLoop(report: EventLoopReport): void {
    const nowMs = performance.now();
    this.#silentSinceMs = report.silentMs > 0 ? nowMs - report.silentMs : undefined;
    if (this.attempts.size === 0) return; // it answers a call
    this.#admission.report(report, nowMs);
    this.#events.onSlots(this.#load.report(report, nowMs));
  }

  #end(reason: string): void {
    const lost = new Problem(
      'unavailable',
      `The executor ended before it answered (${this.killReason ?? reason})`,
    );
    this.#calls.rejectAll(lost);
    const how = this.killReason !== undefined ? 'killed' : this.isReady ? 'crashed' : 'not_started';
    this.#events.onExit([...this.attempts.values()], { how, reason: this.killReason ?? reason });
  }
}
