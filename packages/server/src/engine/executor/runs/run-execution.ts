// One attempt of a run: builds the engine's config, streams the graph, and stores the outcome.
import { GraphRecursionError } from '@langchain/langgraph';
import { onAbort } from '../../../abort.ts';
import { isOutage } from '../../../storage/postgres/sql-state.ts';
import { LeaseLost } from '../../checkpoints/commit-queue.ts';
import { JointWriter } from '../../checkpoints/joint-writer.ts';
import { type OnStart, SvcCheckpointer, EphemeralCheckpointer } from '../../checkpoints/checkpointer.ts';
import { ThreadSession } from '../../checkpoints/thread-session.ts';
import type { ValueCodec } from '../../codec/value-codec.ts';
import type { AttemptReport, ParsedRunCommand, RunKwargs, StopReason } from '../../dispatch/protocol.ts';
import { messageOf, stackOf } from '../../codec/bounded-text.ts';
import { type Chunk, ChunkEvents, type CheckpointChunk, isInterrupt } from '../events/chunk-events.ts';
import { type EventTaker, takeChunks, takeEvents, withStoredIds } from '../events/engine-chunks.ts';
import { callbacksOf } from '../events/lean-callbacks.ts';
import { errorOf, RunRefused, isAttemptLost, isDrained, type Outcome, outcomeOf } from './run-outcome.ts';
import { type RunStart, startOf, RepeatedEvents } from './later-attempt.ts';
import { ModelTokens } from '../events/model-tokens.ts';
import { RunEventWriter } from '../events/run-event-writer.ts';
import type { EventTexts } from '../events/token-texts.ts';
import { assertLanguage, assertNodes, continuesTasks, lostInRun } from '../graphs/removed-nodes.ts';
import { RunTracer } from '../tracing/run-tracer.ts';
import { PythonGraph } from '../../python/python-graph.ts';
import type { EngineGraph, Graph } from '../graphs/graph-registry.ts';
import { recordStates, reportOf } from '../state/state-summary.ts';
import { DrainControl, toInput } from './run-input.ts';
import { RunInputs } from './run-inputs.ts';
import type { RunTools } from './run-tools.ts';
import { openTransformers, type StreamTransformers } from '../events/stream-transformers.ts';
import { engineModes, streamHandling } from '../events/stream-modes.ts';

/** How long the end of a run waits for slow readers that still consume events. */
const deliverMs = 60_000;

export class RunExecution {
  readonly #command: ParsedRunCommand;
  readonly #tools: RunTools;
  readonly #codec: ValueCodec;
  readonly #abort = new AbortController();
  readonly #chunks: ChunkEvents;
  readonly #events: RunEventWriter;
  /** Checkpoints and events are stored together. */
  readonly #writer: JointWriter;
  /** Undefined when no earlier attempt has logged events that count. */
  #repeated: RepeatedEvents | undefined;
  readonly #tracer: RunTracer | undefined;
  readonly #emit = (event: string, value: unknown, texts: EventTexts = this.#codec): void => {
    if (this.#isStreamed) this.#events.emit(event, texts.toJson(value, event));
  };
  #session: ThreadSession | undefined;
  #graph: Graph | undefined;
  #transformers: StreamTransformers | undefined;
  #isStreamed: boolean;
  #areValuesKept: boolean;
  #stopped: StopReason | undefined;
  #isDraining = false;
  readonly #control = new DrainControl();
  readonly #inputs: RunInputs;
  /** The graph has ended, and the outcome is being stored. */
  #hasGraphEnded = false;
  #failure: Error | undefined;
  /** Why the run ends before its graph: it has taken all the steps that its recursion limit allows, or a subgraph has lost a node. */
  #endedBy: Error | undefined;
  #values: unknown;
  #interrupts: unknown[] | undefined;

  constructor(command: ParsedRunCommand, tools: RunTools) {
    this.#command = command;
    this.#tools = tools;
    this.#codec = tools.codecOf(command.graph_id);
    this.#isStreamed = command.streamed;
    this.#areValuesKept = command.values_kept;
    const owner = { owner: command.run_id, lease_token: command.lease_token };
    this.#events = new RunEventWriter({
      owner,
      firstId: command.first_event_id,
      budget: tools.budget,
      commit: () => tools.queue.commit(this.#writer),
      send: tools.send,
      onFailure: (error) => this.#fail(error),
    });
    this.#writer = new JointWriter(tools.queue, this.#events);
    if (command.logged) this.#events.log();
    const { tracing } = tools;
    this.#tracer = tracing && new RunTracer(command, tracing.project, tracing.outbox);
    const { kwargs } = command;
    this.#chunks = new ChunkEvents(kwargs.stream_mode, kwargs.stream_subgraphs, this.#emit, this.#codec);
    this.#inputs = new RunInputs({
      command,
      control: this.#control,
      storage: tools,
      emit: this.#emit,
      values: () => this.#values,
      codec: this.#codec,
      limitSteps: (steps) => this.#limitSteps(steps),
      session: () => this.#session,
      isOver: () => this.#abort.signal.aborted || this.#isDraining,
    });
  }

  /** Stops the graph by the abort signal that its nodes get. */
  stop(why: StopReason): void {
    this.#stopped ??= why;
    const name = why === 'timeout' ? 'TimeoutError' : 'AbortError';
    this.#abort.abort(new DOMException(`The run was stopped: ${why}`, name));
    this.#reportGraphEnd();
  }

  /** Ends the attempt before the next superstep. A run without checkpoints while it executes would be executed again: it continues. */
  drain(): void {
    const { temporary, kwargs } = this.#command;
    if (temporary || kwargs.durability === 'exit') return;
    this.#isDraining = true;
    this.#control.requestDrain();
  }

  /** Inputs wait that were sent into the run. */
  takeInputs(): void {
    this.#inputs.request();
  }

  /** The server process kills an executor whose graph ignores the abort signal, but not one that cannot store the outcome. */
  #reportGraphEnd(): void {
    if (this.#stopped && this.#hasGraphEnded) this.#send({ kind: 'graph_ended' });
  }

  /** The events have a reader from now on. `logged`: the reader is on another node and reads the log. */
  listen(logged: boolean): void {
    this.#isStreamed = true;
    if (!logged) return;
    this.#areValuesKept ||= this.#command.temporary;
    this.#events.log();
  }

  /** The events have no reader any more: they are not created, unless the run is logged. */
  unlisten(): void {
    if (this.#events.isLogged) return;
    this.#isStreamed = false;
    this.#events.dropUnlogged();
  }

  /** Readers have consumed these bytes of events, or the wait for them timed out. */
  acknowledge(bytes: number): void {
    this.#events.acknowledge(bytes);
  }

  /** Never rejects: errors are reported to the server process. */
  async run(): Promise<void> {
    const { run_id, attempt } = this.#command;
    let thrown: unknown;
    try {
      this.#events.emit('metadata', JSON.stringify({ run_id, attempt }));
      await this.#stream().finally(() => this.#chunks.end());
    } catch (error) {
      thrown = this.#endedBy ?? error;
    }
    this.#hasGraphEnded = true;
    this.#reportGraphEnd();
    try {
      await this.#finish(thrown);
    } catch (error) {
      if (isAttemptLost(error)) this.#lost(error);
      else await this.#unstorable(error);
    } finally {
      this.#events.close();
    }
  }

  async #finish(thrown: unknown): Promise<void> {
    // With durability `exit` the engine puts the last checkpoint in the microtasks after an abort.
    if (this.#abort.signal.aborted) await new Promise(setImmediate);
    // Nodes may still execute after a failure or an abort, and subgraphs may put checkpoints. These belong to no attempt, and would be stored
    // without their tasks, because the states are recorded now.
    this.#session?.seal();
    if (this.#failure) throw this.#failure;
    if (isAttemptLost(thrown)) throw thrown;
    if (this.#stopped === 'lost') throw new LeaseLost(this.#command.run_id);
    if (this.#isDraining && !this.#stopped && isDrained(thrown)) return this.#drained();
    const { status, error } = outcomeOf(this.#stopped, thrown);
    this.#chunks.endSubgraphs(error);
    const isAwaited = this.#command.awaited || this.#areValuesKept;
    const values = isAwaited && status !== 'error' ? this.#result() : undefined;
    const isRefused = thrown instanceof RunRefused;
    const stack = status === 'error' ? stackOf(thrown) : undefined;
    await this.#end({
      status,
      error,
      stack,
      values: this.#areValuesKept ? (values ?? null) : null,
      isRefused,
    });
    this.#send({ kind: 'done', status, error, stack, ...(values === undefined ? {} : { values }) });
    this.#tracer?.close({ status, error });
  }

  /** Stores everything so far. The next attempt continues as after a loss. */
  async #drained(): Promise<void> {
    await this.#deliver();
    await this.#tools.queue.commit(this.#writer);
    await this.#session?.flush();
    this.#send({ kind: 'drained' });
    this.#tracer?.abandon();
  }

  async #stream(): Promise<void> {
    const { command, graph, configOf, kwargs, checkpointer } = await this.#prepare();
    if (graph instanceof PythonGraph) {
      const { store } = this.#tools;
      const run = {
        command,
        saver: checkpointer,
        store,
        signal: this.#abort.signal,
        control: this.#control,
        tracer: this.#tracer,
      };
      const take = (chunk: Chunk): void => this.#chunk(graph, chunk);
      return this.#inputs.untilEnd(graph, kwargs, checkpointer, (given) =>
        graph.stream({ ...run, kwargs: given }, take),
      );
    }
    const isOfEvents = command.kwargs.stream_mode.includes('events');
    const { translateMessages } = this.#tools;
    const translating = { codec: this.#codec, translateMessages };
    if (!isOfEvents) this.#transformers = openTransformers(graph, command.kwargs, translating, this.#emit);
    const ended = this.#inputs.untilEnd(graph, kwargs, checkpointer, (given) => {
      const input = toInput(given);
      const modes = engineModes(command.kwargs.stream_mode);
      const options = { ...configOf(given), streamMode: modes, subgraphs: true };
      if (isOfEvents) return takeEvents(graph, input, options, this.#eventTaker(graph));
      // Chunks are read at once: an event that waited in the engine could miss the flush of its checkpoint.
      return takeChunks(graph, input, options, (chunk) => this.#chunk(graph, chunk));
    });
    return this.#transformers ? this.#transformers.follow(ended, this.#abort.signal) : ended;
  }

  async #prepare() {
    const command = this.#command;
    const { config } = command;
    const graph = await this.#tools.graphs.get(command.graph_id, config, 'threads.create_run');
    this.#graph = graph;
    const onStart: OnStart = async ({ saver, found, isHead }) => {
      if (!continuesTasks(kwargs)) return;
      const { graphs } = this.#tools;
      assertLanguage(command.graph_id, found, (graph_id) => graphs.isPython(graph_id));
      // Otherwise the subgraphs do not start from their newest checkpoints.
      const areSubgraphsAtHead = isHead && kwargs.checkpoint?.checkpoint_map === undefined;
      await assertNodes(graph, found, areSubgraphsAtHead ? saver : undefined);
    };
    const checkpointer = command.temporary ? new EphemeralCheckpointer() : this.#checkpointer(onStart);
    const { kwargs, steps } = await startOf(command, graph, checkpointer, this.#tools.checkpoints);
    if (steps) this.#limitSteps(steps);
    this.#repeated = await RepeatedEvents.load(command, this.#codec, this.#tools.checkpoints);
    return {
      command,
      graph,
      kwargs,
      checkpointer,
      configOf: ({ checkpoint }: RunKwargs) => ({
        ...config,
        ...(command.context === undefined ? {} : { context: command.context }),
        configurable: { ...config.configurable, ...checkpoint, __pregel_checkpointer: checkpointer },
        metadata: command.metadata,
        ...(graph instanceof PythonGraph ? {} : this.#callbacks(graph)),
        runId: command.run_id,
        store: this.#tools.store,
        signal: this.#abort.signal,
        control: this.#control,
        durability: kwargs.durability,
        ...(kwargs.interrupt_before ? { interruptBefore: kwargs.interrupt_before } : {}),
        ...(kwargs.interrupt_after ? { interruptAfter: kwargs.interrupt_after } : {}),
      }),
    };
  }

  #eventTaker(graph: EngineGraph): EventTaker {
    return {
      run_id: this.#command.run_id,
      chunk: (chunk) => this.#chunk(graph, chunk),
      event: (event) => this.#emit('events', event),
    };
  }

  #callbacks(graph: EngineGraph): { callbacks?: ReturnType<typeof callbacksOf> } {
    const { messages } = this.#chunks;
    const handling = streamHandling(this.#command.kwargs);
    const handlers = [
      ...(this.#tracer ? [this.#tracer] : []),
      ...(messages ? [new ModelTokens((message, metadata) => messages.token(message, metadata))] : []),
    ];
    if (handlers.length === 0 && !handling) return {};
    return { callbacks: callbacksOf(graph, handlers, handling) };
  }

  #checkpointer(onStart?: OnStart): SvcCheckpointer {
    const { run_id, thread_id, blob_space, head, checkpoint_metadata } = this.#command;
    const session = new ThreadSession({
      owner: this.#writer.owner,
      thread_id,
      blob_space,
      head,
      run_id,
      metadata: checkpoint_metadata,
      sync: this.#command.kwargs.durability === 'sync',
      committer: this.#writer,
      codec: this.#codec,
      recent: this.#tools.recentBlobs,
      onFailure: (error) => this.#fail(error),
    });
    this.#writer.session = session;
    this.#session = session;
    return new SvcCheckpointer(session, this.#tools.checkpoints, onStart);
  }

  /** Ends the run at its recursion limit, as the engine does. The engine counts only the steps of this attempt. */
  #limitSteps({ limit, newest, last }: NonNullable<RunStart['steps']>): void {
    const error = new GraphRecursionError(
      `Recursion limit of ${limit} reached without hitting a stop condition. You can increase the limit by setting the "recursionLimit" config key.`,
      { lc_error_code: 'GRAPH_RECURSION_LIMIT' },
    );
    if (newest >= last) throw error;
    this.#session?.endAfter(last, () => this.#endBy(error));
  }

  #endBy(error: Error): void {
    this.#endedBy ??= error;
    this.#session?.seal();
    this.#abort.abort(error);
  }

  #chunk(graph: Graph, [namespace, mode, payload]: Chunk): void {
    this.#inputs.applied();
    if (namespace.length === 0 && mode === 'values') {
      // Each task that asks has a chunk of its own; the result of a run contains all of them, as that of the engine's `invoke`.
      if (isInterrupt(payload)) this.#interrupts = [...(this.#interrupts ?? []), ...payload.__interrupt__];
      else this.#values = payload;
    }
    if (this.#inputs.isRepeated(namespace, mode)) return;
    if (mode === 'updates' && this.#repeated?.has(namespace, payload, this.#session)) return;
    const stored = withStoredIds(this.#session?.storedIds, mode, payload);
    if (mode === 'checkpoints') this.#describe(graph, namespace, stored as CheckpointChunk);
    this.#chunks.chunk(namespace, mode, stored);
    this.#transformers?.chunk(namespace, mode, stored);
  }

  #describe(graph: Graph, namespace: string[], chunk: CheckpointChunk): void {
    const isRoot = namespace.length === 0;
    const ns = namespace.join('|');
    const { checkpoint_id, deltas, ...state } = reportOf(graph, isRoot, chunk);
    const lost = this.#session?.describe(ns, { ...state, checkpoint_id, values: deltas });
    if (isRoot && checkpoint_id !== undefined && this.#inputs.takeReport())
      this.#session?.reportCommand({ checkpoint_ns: ns, checkpoint_id }, state);
    // The tasks of the graph itself, which a command may have changed, were checked at the start.
    if (lost && !isRoot && continuesTasks(this.#command.kwargs)) this.#endBy(lostInRun(lost.name, ns));
  }

  /** The final values as wire JSON, with `__interrupt__` when the graph was interrupted. */
  #result(): string | null {
    if (this.#values === undefined && this.#interrupts === undefined) return null;
    const isState = typeof this.#values === 'object' && this.#values !== null;
    return this.#codec.toJson(
      this.#interrupts === undefined
        ? this.#values
        : { ...(isState ? (this.#values as object) : {}), __interrupt__: this.#interrupts },
      'values',
    );
  }

  /** Stores the last checkpoint, the last events and the outcome in one flush. */
  async #end({ isRefused, ...outcome }: Outcome & { isRefused: boolean }): Promise<void> {
    const { status } = outcome;
    const isFailed = status === 'error' || status === 'timeout';
    await this.#recordStates(isFailed);
    const isOpen = (this.#session?.nextTasks('').length ?? 0) > 0;
    const ending = isFailed ? 'error' : isOpen ? 'interrupted' : null;
    await this.#store(outcome, isRefused ? 'as_stored' : ending, this.#session ?? this.#detached());
  }

  async #store(
    { status, error, stack, values }: Outcome,
    ending: string | null,
    session: ThreadSession,
  ): Promise<void> {
    const text = error && JSON.stringify(error);
    const interrupts = this.#session?.interrupts() ?? null;
    if (text) this.#events.emit('error', text);
    await this.#deliver();
    await session.end({
      status,
      ending,
      interrupts,
      error: text,
      ...(stack === undefined ? {} : { stack: JSON.stringify(stack) }),
      values,
      told: this.#events.isLogged,
    });
    this.#events.leaveRestToLog();
  }

  /** Sends the last events. A run that is stopped does not wait for its readers: its executor would be killed. */
  async #deliver(): Promise<void> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deliverMs);
    const stopWaiting = onAbort(this.#abort.signal, () => late.abort());
    await this.#events.deliver(late.signal);
    clearTimeout(timer);
    stopWaiting();
  }

  /** Records what the engine has not reported while it ran: tasks after a breakpoint, and states that wait. */
  async #recordStates(isFailed: boolean): Promise<void> {
    const session = this.#session;
    if (!session || !this.#graph) return;
    try {
      // With durability `exit` the engine puts the last checkpoint when it has failed to apply the writes of its tasks, and has changed it.
      const isUnapplied = isFailed && this.#command.kwargs.durability === 'exit';
      await recordStates(this.#graph, session, this.#tools.checkpoints, isUnapplied);
    } catch (error) {
      // The run has ended with an error, which may be why its state cannot be computed either: a reducer that throws.
      if (!isFailed || isAttemptLost(error) || session.hasFailed) throw error;
    }
  }

  /** A session for a run that has no checkpoints to write, only an ending. */
  #detached(): ThreadSession {
    this.#checkpointer();
    return this.#session as ThreadSession;
  }

  /** A write in the background has failed. The run is stopped, because its further writes would fail too. */
  #fail(error: Error): void {
    const isLost = isAttemptLost(error);
    if (!isLost) this.#failure ??= error;
    // The server process kills this executor if the graph does not stop.
    if (!this.#stopped) this.#send({ kind: 'aborted', error: isLost ? null : errorOf(error) });
    this.stop(isLost ? 'lost' : 'cancelled');
  }

  /** The outcome could not be encoded or stored. Ends the run with an error; if that fails too, reports the attempt as lost. */
  async #unstorable(thrown: unknown): Promise<void> {
    const error = errorOf(thrown);
    try {
      const session = this.#session?.hasFailed === false ? this.#session : this.#detached();
      const stack = stackOf(thrown);
      await this.#store({ status: 'error', error, stack, values: null }, 'error', session);
      this.#send({ kind: 'done', status: 'error', error, stack });
      this.#tracer?.close({ status: 'error', error });
    } catch (again) {
      this.#lost(again);
    }
  }

  #lost(error: unknown): void {
    this.#send({ kind: 'lost', message: messageOf(error), isOutage: isOutage(error) });
    this.#tracer?.abandon();
  }

  #send(report: AttemptReport): void {
    const { run_id, lease_token } = this.#command;
    this.#tools.send({ run_id, lease_token, ...report });
  }
}
