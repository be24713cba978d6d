// A graph of a Python file, with what the executor uses of a graph of LangGraph.js.
import type { DrainControl } from '../executor/runs/run-input.ts';
import type { BaseCheckpointSaver, BaseStore } from '@langchain/langgraph-checkpoint';
import { onAbort } from '../../abort.ts';
import { isRecord } from '../../json/is-record.ts';
import { clientConfigurable } from '../dispatch/run-command.ts';
import type { IntrospectCommand, ParsedRunCommand, RunKwargs, StateUpdate } from '../dispatch/protocol.ts';
import type { Chunk } from '../executor/events/chunk-events.ts';
import { readChunk, type SentChunk } from './python-chunks.ts';
import type { GraphFailure, GraphLayout, PythonHost, TracedStep } from './python-host.ts';
import { readShape, type Shape } from './shapes.ts';

interface Config {
  configurable?: Record<string, unknown> | undefined;
  [key: string]: unknown;
}

export interface PythonRun {
  command: ParsedRunCommand;
  /** Those of the command, or what is left of them in an attempt that continues the run. */
  kwargs: RunKwargs;
  saver: BaseCheckpointSaver;
  store: BaseStore;
  signal: AbortSignal;
  control: DrainControl;
  /** Undefined when the run is not traced. */
  tracer: TraceSink | undefined;
}

/** Takes the steps of a run. */
export interface TraceSink {
  take(event: 'start' | 'end', run: TracedStep): void;
}

interface UpdateConfig {
  configurable?: Record<string, unknown>;
}

/** The state of a checkpoint, as the engine derives it. */
interface PythonState {
  values: unknown;
  next: string[];
  metadata: { step?: number } | null;
  config: Config;
  tasks: { id: string; name: string; path: unknown[]; state?: unknown }[];
}

/** An error of a graph: its class, its message, and its traceback with the lines of the project. */
export class PythonGraphError extends Error {
  constructor({ name, message, stack }: GraphFailure) {
    super(message);
    this.name = name;
    if (stack !== undefined) this.stack = stack;
  }
}

export class PythonGraph {
  readonly id: string;
  readonly checkpointer: unknown;
  readonly #host: PythonHost;
  readonly #path: string;
  /** Undefined until it is known which graph a function makes. */
  #layout: GraphLayout | undefined;

  constructor(
    host: PythonHost,
    id: string,
    { layout, path = '' }: { layout: GraphLayout | undefined; path?: string },
  ) {
    this.#host = host;
    this.id = id;
    this.#layout = layout;
    this.#path = path;
    this.checkpointer = layout?.has_memory === true ? true : undefined;
  }

  get streamChannelsAsIs(): string | string[] {
    return this.#known.keys;
  }

  get nodes(): Record<string, { triggers: string[] }> {
    return Object.fromEntries(
      Object.entries(this.#known.nodes).map(([name, triggers]) => [name, { triggers }]),
    );
  }

  get config(): { recursionLimit?: number } {
    const limit = this.#layout?.recursion_limit;
    // The engine's default in Python is so high that no run is meant to reach it.
    return { recursionLimit: limit ?? recursionLimitDefault };
  }

  get #known(): GraphLayout {
    if (!this.#layout) throw new Error(`The layout of the graph "${this.id}" is not known yet`);
    return this.#layout;
  }

  /** Streams the graph. Rejects when it fails, and when it has stopped after the abort signal. */
  async stream(run: PythonRun, take: (chunk: Chunk) => void): Promise<void> {
    const { signal, control } = run;
    let failure: unknown;
    let hasFailed = false;
    const { process } = this.#host;
    const fail = (error: unknown): void => {
      if (hasFailed) return;
      hasFailed = true;
      failure = error;
      process.send({ kind: 'cancel', session: session.number });
    };
    const session = this.#host.open({ saver: run.saver, store: run.store, onFailure: fail });
    const ended = this.#host.follow(session, {
      onLayout: (layout) => (this.#layout = layout),
      onChunks: (chunks, parts) => {
        const reader = session.reader(parts);
        for (const sent of chunks as SentChunk[]) {
          // Values are read also when the chunk is dropped: later ones refer to them.
          const chunk = readChunk(sent, reader);
          if (!signal.aborted && !hasFailed) take(chunk);
        }
      },
      onTrace: (event, step) => run.tracer?.take(event, step),
      onFailure: fail,
    });
    const stopWaiting = onAbort(signal, () => process.send({ kind: 'cancel', session: session.number }));
    control.onRequest = (kind) => process.send({ kind, session: session.number });
    try {
      process.send(this.#runHeader(run, session.number), [
        JSON.stringify({ input: run.kwargs.input ?? null, command: run.kwargs.command ?? null }),
        JSON.stringify(pythonContext(run.command) ?? null),
      ]);
      if (signal.aborted) process.send({ kind: 'cancel', session: session.number });
      if (control.isDraining) process.send({ kind: 'drain', session: session.number });
      const error = await ended;
      if (hasFailed) throw failure;
      signal.throwIfAborted();
      if (error) throw new PythonGraphError(error);
    } finally {
      stopWaiting();
      control.onRequest = undefined;
      this.#host.close(session);
    }
  }

  #runHeader({ command, kwargs, tracer, control }: PythonRun, session: number) {
    const { config, context, credential, metadata, run_id, temporary, head } = command;
    const { durability, interrupt_before, interrupt_after, stream_mode, stream_subgraphs } = kwargs;
    const given = isRecord(context) ? clientConfigurable(context) : {};
    const configurable = { ...given, ...config.configurable, ...kwargs.checkpoint };
    return {
      kind: 'run',
      session,
      graph: this.id,
      config: { ...pythonConfig({ ...config, configurable }), metadata, run_id },
      modes: stream_mode,
      subgraphs: stream_subgraphs,
      durability,
      temporary,
      // Nothing is stored for the thread yet.
      blank: head === null && !control.passes,
      pauses: control.isPausing,
      passes: control.passes,
      shows_start: control.passes && kwargs.command !== undefined,
      traced: tracer !== undefined,
      ...(credential === undefined ? {} : { credential }),
      ...(interrupt_before ? { interrupt_before } : {}),
      ...(interrupt_after ? { interrupt_after } : {}),
    };
  }

  /** Applies one superstep of updates. Returns the config of the new checkpoint. */
  async update(
    config: UpdateConfig,
    updates: readonly StateUpdate[],
    saver: BaseCheckpointSaver,
  ): Promise<UpdateConfig> {
    const { header } = await this.#host.withSession({ saver }, (session) =>
      this.#host.process.call(
        {
          kind: 'update',
          session: session.number,
          graph: this.id,
          config: pythonConfig({ ...config }),
          updates: updates.map(({ command, as_node }) => ({
            is_command: command !== undefined && command !== null,
            ...(as_node === undefined ? {} : { as_node }),
          })),
        },
        updates.map(({ command, values }) => JSON.stringify(command ?? values ?? null)),
      ),
    );
    this.#layout ??= (header['layout'] ?? undefined) as GraphLayout | undefined;
    const { checkpoint_ns, checkpoint_id } = header;
    return { configurable: { ...config.configurable, checkpoint_ns, checkpoint_id } };
  }

  /** `config.configurable`: with `__pregel_checkpointer`, as for a graph of LangGraph.js. */
  async getState(
    config: { configurable: Record<string, unknown> },
    { subgraphs = false }: { subgraphs?: boolean } = {},
  ): Promise<PythonState> {
    const { __pregel_checkpointer: saver, ...configurable } = config.configurable;
    return this.#host.withSession({ saver: saver as BaseCheckpointSaver }, async (session) => {
      const { header, parts } = await this.#host.process.call({
        kind: 'state',
        session: session.number,
        graph: this.id,
        path: this.#path,
        config: pythonConfig({ configurable }),
        subgraphs,
      });
      this.#layout ??= layoutAt(header['layout'] as GraphLayout | null, this.#path);
      return readShape(header['state'] as Shape, session.reader(parts)) as PythonState;
    });
  }

  /** The subgraphs by path; `path`: only that one. */
  async *getSubgraphsAsync(path?: string, _recurse?: boolean): AsyncGenerator<[string, PythonGraph]> {
    this.#layout ??= await this.#host.layout(this.id);
    for (const [found, layout] of Object.entries(this.#layout.subgraphs ?? {}))
      if (path === undefined || found === path)
        yield [found, new PythonGraph(this.#host, this.id, { layout, path: found })];
  }

  /** Its drawing, its schemas or its subgraphs. */
  async introspect({ what, config, xray, namespace, recurse }: IntrospectCommand): Promise<unknown> {
    const { header } = await this.#host.process.call({
      kind: 'introspect',
      graph: this.id,
      what,
      config: pythonConfig(config),
      ...(xray === undefined ? {} : { xray }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(recurse === undefined ? {} : { recurse }),
    });
    return header['value'];
  }
}

/** The engine's own default in Python. */
const recursionLimitDefault = 10_007;

/**
 * As in the stock server, `context` has the values of `configurable` too, and `configurable` those of `context`: older graphs and clients know
 * only one of them. Without both it is empty, and fields of a context schema have their defaults.
 */
const pythonContext = ({ config, context }: ParsedRunCommand): unknown =>
  context === undefined || isRecord(context)
    ? { ...clientConfigurable(config.configurable), ...context }
    : context;

const layoutAt = (layout: GraphLayout | null | undefined, path: string): GraphLayout | undefined =>
  path === '' ? (layout ?? undefined) : layout?.subgraphs?.[path];

/** The config under the names that the engine has in Python, without keys of the engine. */
const pythonConfig = ({ configurable = {}, tags, recursionLimit, maxConcurrency }: Config): object => ({
  configurable: Object.fromEntries(Object.entries(configurable).filter(([key]) => !key.startsWith('__'))),
  ...(tags === undefined ? {} : { tags }),
  ...(recursionLimit === undefined ? {} : { recursion_limit: recursionLimit }),
  ...(maxConcurrency === undefined ? {} : { max_concurrency: maxConcurrency }),
});
