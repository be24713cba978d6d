// Traces one attempt of a run by the engine's callbacks, as any tracer of LangChain does. The root trace run has the id
// of the run, and ends with the outcome that was stored, so an attempt that was lost does not end it.
import { BaseTracer, type Run } from '@langchain/core/tracers/base';
import type { ParsedRunCommand, RunError, RunStatus } from '../../dispatch/protocol.ts';
import { isDrained } from '../runs/run-outcome.ts';
import { MessageTexts } from '../events/message-texts.ts';
import { traceText } from './trace-text.ts';
import type { TraceOutbox } from './trace-outbox.ts';
import type { TracedRun } from './traced-run.ts';

const hiddenTag = 'langsmith:hidden';

/** The engine's name for a compiled graph without a name. The root of its trace gets the id of the graph instead. */
const unnamedGraph = 'LangGraph';

interface Outcome {
  status: RunStatus;
  error: RunError | null;
}

/** A person, another run or the time limit has ended the run. */
const wasStopped = ({ status }: Outcome): boolean => status === 'interrupted' || status === 'timeout';

/** The error of the root; undefined for a run that has succeeded. The API calls a cancelled run `interrupted`. */
const outcomeText = ({ status, error }: Outcome): string | undefined => {
  if (status === 'interrupted') return 'RunCancelled: The run was cancelled';
  return error === null ? undefined : `${error.error}: ${error.message}`;
};

interface BubbleUp {
  is_bubble_up: true;
  interrupts?: unknown[];
  command?: unknown;
}

const isBubbleUp = (error: unknown): error is BubbleUp =>
  typeof error === 'object' && error !== null && 'is_bubble_up' in error && error.is_bubble_up === true;

/** A graph that was interrupted, or that passes a command to its parent graph, has not failed. */
const toOutputs = ({ interrupts, command }: BubbleUp): Record<string, unknown> =>
  interrupts === undefined ? { output: command } : { __interrupt__: interrupts };

const toKeys = ({ run_id, thread_id, assistant_id, graph_id, config }: ParsedRunCommand) => {
  const user = config.configurable['svc_auth_user_id'];
  return {
    thread_id,
    run_id,
    assistant_id,
    graph_id,
    ...(user === undefined ? {} : { svc_auth_user_id: user }),
  };
};

export class RunTracer extends BaseTracer {
  readonly name = 'svc_run_tracer';
  readonly #command: ParsedRunCommand;
  readonly #project: string;
  readonly #outbox: TraceOutbox;
  readonly #keys: Record<string, unknown>;
  readonly #messages = new MessageTexts();
  readonly #open = new Map<string, TracedRun>();
  /** Internal steps of the engine. They are traced only if they fail or have children. */
  readonly #hidden = new Map<string, Run>();
  #root: TracedRun | undefined;
  /** The graph has gone on after a pause: the inputs of the root are those of its first part. */
  #isResumed = false;
  #isClosed = false;
  #clockMs = NaN;
  #clockText = '';

  constructor(command: ParsedRunCommand, project: string, outbox: TraceOutbox) {
    // Callbacks do their work at once. A queue would take time, and would see states that have changed meanwhile.
    super({ _awaitHandler: true });
    this.#command = command;
    this.#project = project;
    this.#outbox = outbox;
    this.#keys = toKeys(command);
  }

  /** Ends the trace with the outcome of the run. Further callbacks are ignored. */
  close(outcome: Outcome): void {
    this.#isClosed = true;
    const root = this.#root ?? this.#unstarted();
    const error = outcomeText(outcome);
    // A graph that was stopped has failed with the engine's error "Abort", which does not name the reason.
    if (error !== undefined && (root.run.error === undefined || wasStopped(outcome))) root.run.error = error;
    for (const traced of this.#open.values()) {
      traced.run.error ??=
        outcome.status === 'interrupted'
          ? 'It had not ended when the run was cancelled'
          : 'It had not ended when the run ended';
      this.#end(traced, traced === root);
    }
    if (root.isEnded) this.#outbox.add(root, true);
  }

  /** Ends all trace runs except the root, which another attempt ends. */
  abandon(): void {
    this.#isClosed = true;
    for (const traced of this.#open.values()) {
      if (traced === this.#root) continue;
      traced.run.error ??= 'The attempt of the run was lost';
      this.#end(traced, false);
    }
  }

  /** Takes a step of a Python graph, with its place in the tree. */
  take(event: 'start' | 'end', step: object): void {
    const run = step as Run;
    this.#place(run);
    if (event === 'start') {
      if (run.parent_run_id !== undefined) this.#show(run.parent_run_id);
      return this.onRunCreate(run);
    }
    const started = this.#open.get(run.id)?.run ?? this.#hidden.get(run.id);
    if (started) this.onRunUpdate(Object.assign(started, run));
  }

  override onRunCreate(run: Run): void {
    if (this.#isClosed) return;
    if (run.tags?.includes(hiddenTag)) this.#hidden.set(run.id, run);
    else this.#begin(run);
  }

  /** A graph that goes on after a pause begins again, with another time. Its steps stay below the root that began first. */
  #place(run: Run): void {
    const root = this.#root?.run;
    if (!root) return;
    const { name, start_time, dotted_order = '' } = root;
    if (run.id === root.id) Object.assign(run, { name, start_time, dotted_order });
    else run.dotted_order = dotted_order + run.dotted_order?.slice(run.dotted_order.indexOf('.'));
  }

  override onRunUpdate(run: Run): void {
    if (this.#isClosed) return;
    if (run.error !== undefined) this.#show(run.id);
    this.#hidden.delete(run.id);
    const traced = this.#open.get(run.id);
    if (traced === undefined) return;
    const isResumed = this.#isResumed && traced === this.#root;
    if (run.inputs !== nothing && !isResumed) {
      traced.inputs = traceText(run.inputs, this.#messages);
      traced.isKnown = false;
    }
    if (run.outputs !== undefined) traced.outputs = traceText(run.outputs, this.#messages);
    lighten(run);
    if (run.run_type !== 'llm') delete run.outputs;
    if (traced === this.#root) {
      this.#open.delete(run.id);
      traced.isEnded = true;
    } else this.#end(traced, false);
  }

  override async handleChainError(error: unknown, ...rest: ErrorPlace): Promise<Run> {
    // The graph goes on after a pause, or in the next attempt of the run.
    if (isDrained(error) && this.#root && rest[0] === this.#root.run.id) return this.#root.run;
    if (!isBubbleUp(error)) return super.handleChainError(error, ...rest);
    return super.handleChainEnd(toOutputs(error), ...rest);
  }

  override async handleToolError(error: unknown, run_id: string): Promise<Run> {
    return isBubbleUp(error)
      ? super.handleToolEnd(toOutputs(error), run_id)
      : super.handleToolError(error, run_id);
  }

  /** Keeps only the time of the first token; the outputs contain all tokens. */
  override handleLLMNewToken(_token: string, _at: unknown, run_id: string): Promise<Run> {
    const run = this.getRunById(run_id);
    if (run && run.events.length === 1)
      run.events.push({ name: 'new_token', time: new Date().toISOString() });
    return Promise.resolve(run as Run);
  }

  /**
   * Sets the place of a trace run in the tree, as the base class does, but without its copies. The trace run is not added
   * to its parent, which would keep everything below it in memory until it ends.
   */
  override _addRunToRunMap(run: Run): Run {
    const { id, start_time, execution_order } = run;
    const parent = run.parent_run_id === undefined ? undefined : this.runMap.get(run.parent_run_id);
    const segment = `${this.#clock(start_time)}${String(execution_order).slice(0, 3).padStart(3, '0')}Z${id}`;
    if (parent) {
      this.#show(parent.id);
      parent.child_execution_order = Math.max(parent.child_execution_order, run.child_execution_order);
      Object.assign(run, { trace_id: parent.trace_id, dotted_order: `${parent.dotted_order}.${segment}` });
    } else if (run.parent_run_id === undefined) Object.assign(run, { trace_id: id, dotted_order: segment });
    else delete run.parent_run_id;
    this.runMap.set(id, run);
    return run;
  }

  /**
   * The time in milliseconds, in the format of dotted orders. Cached, because most trace runs start in the same
   * millisecond as the one before.
   */
  #clock(time: Run['start_time']): string {
    const ms = Number(time);
    if (ms !== this.#clockMs) {
      this.#clockMs = ms;
      this.#clockText = new Date(ms).toISOString().slice(0, -1).replaceAll(/[-:.]/g, '');
    }
    return this.#clockText;
  }

  protected persistRun(): Promise<void> {
    return Promise.resolve();
  }

  #begin(run: Run): void {
    if (this.#root && run.id === this.#command.run_id) {
      this.#place(run);
      Object.assign(this.#root, { run, outputs: undefined, isEnded: false });
      this.#isResumed = true;
      lighten(run);
      this.#open.set(run.id, this.#root);
      return;
    }
    const traced: TracedRun = {
      run,
      keys: this.#keys,
      project: this.#project,
      inputs: traceText(run.inputs, this.#messages),
      outputs: undefined,
      isEnded: false,
      isKnown: false,
      isStoredPending: false,
      write: '0',
    };
    lighten(run);
    this.#open.set(run.id, traced);
    if (run.id === this.#command.run_id) {
      this.#root = traced;
      if (run.name === unnamedGraph) run.name = this.#command.graph_id;
    }
    this.#outbox.add(traced, false);
  }

  #show(id: string): void {
    const run = this.#hidden.get(id);
    if (run === undefined || this.#isClosed) return;
    this.#hidden.delete(id);
    this.#begin(run);
  }

  #end(traced: TracedRun, isLast: boolean): void {
    traced.run.end_time ??= Date.now();
    traced.isEnded = true;
    this.#open.delete(traced.run.id);
    this.#outbox.add(traced, isLast);
  }

  /** Creates the root trace run of a run whose graph did not begin. */
  #unstarted(): TracedRun {
    const { run_id, graph_id, kwargs, metadata } = this.#command;
    const inputs = (kwargs.command ?? kwargs.input) as Run['inputs'];
    this.#isClosed = false;
    const id = ['svc', graph_id];
    const serialized = { lc: 1, type: 'not_implemented' as const, id };
    this.onRunCreate(
      this._createRunForChainStart(serialized, inputs, run_id, undefined, undefined, metadata) as Run,
    );
    this.#isClosed = true;
    return this.#root as TracedRun;
  }
}

type ErrorPlace = Parameters<BaseTracer['handleChainError']> extends [unknown, ...infer Rest] ? Rest : never;

const nothing: Run['inputs'] = Object.freeze({});

/** Drops the values, which have been converted to text. */
const lighten = (run: Run): void => {
  run.inputs = nothing;
  delete run.serialized;
};
