// The oracle: a thread of the bare engine, with its own saver in memory.
import { type CheckpointTuple, Command, Send, type StateSnapshot } from '@langchain/langgraph';
import { withCheckpointer } from '../../engine-copy.ts';
import type { GraphCase } from './cases.ts';
import type { RunOptions } from './operations.ts';
import { commandTask, OracleSaver } from './oracle-saver.ts';
import {
  byName,
  common,
  eventData,
  markNewIds,
  type Outcome,
  type SeenEvent,
  type SeenState,
  type SeenTask,
  withoutResultIds,
} from './observation.ts';

type Fields = Record<string, unknown>;
interface Config {
  configurable: Fields & { thread_id: string };
}

/** What is used of a graph here; each has types of its own. */
interface Graph {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<StateSnapshot>;
  updateState(config: object, values: unknown, asNode?: string): Promise<Config>;
}

export interface CommandValue {
  resume?: unknown;
  update?: unknown;
  goto?: unknown;
}

export const streamModes = ['values', 'updates', 'tasks', 'checkpoints', 'custom'] as const;

/**
 * Takes the chunks when the engine emits them. Its own streams pass them on later: nodes may have changed messages in place by then, and a run
 * that fails drops those that wait.
 */
class EmittedChunks {
  readonly modes = new Set(streamModes);
  readonly #events: SeenEvent[];

  constructor(events: SeenEvent[]) {
    this.#events = events;
  }

  push([namespace, mode, data]: [string[], string, unknown]): void {
    this.#events.push({ namespace: namespace.join('|'), mode, data: toEvent(mode, data) });
  }
}

export class EngineThread {
  readonly #graph: Graph;
  readonly #saver = new OracleSaver();
  readonly #at: Config;
  readonly #Send: typeof Send;

  constructor({ graph, Send: ofCopy = Send }: Pick<GraphCase, 'graph' | 'Send'>, thread_id: string) {
    this.#graph = withCheckpointer(graph, this.#saver);
    this.#Send = ofCopy;
    this.#at = { configurable: { thread_id } };
  }

  async run(
    input: unknown,
    command: CommandValue | undefined,
    options: RunOptions,
    at?: SeenState,
  ): Promise<Outcome> {
    this.#saver.runs += 1;
    const events: SeenEvent[] = [];
    const { durability, before, after } = options;
    try {
      const stream = await this.#graph.stream(command ? this.#toCommand(command) : input, {
        configurable: { ...this.#configAt(at).configurable, __pregel_stream: new EmittedChunks(events) },
        streamMode: [...streamModes],
        subgraphs: true,
        durability,
        ...(before ? { interruptBefore: before } : {}),
        ...(after ? { interruptAfter: after } : {}),
      });
      for await (const _ of stream);
    } catch (error) {
      return { error: (error as Error).message, events };
    }
    return { error: null, events };
  }

  async update(values: unknown, asNode: string | undefined, at?: SeenState): Promise<Outcome> {
    try {
      await this.#graph.updateState(this.#configAt(at), values, asNode);
    } catch (error) {
      return { error: (error as Error).message, events: [] };
    }
    return { error: null, events: [] };
  }

  async state(): Promise<SeenState> {
    return this.#read(() => this.#graph.getState(this.#at, { subgraphs: true }));
  }

  async history(): Promise<SeenState[]> {
    const states: SeenState[] = [];
    for await (const tuple of this.#saver.list({
      configurable: { ...this.#at.configurable, checkpoint_ns: '' },
    }))
      states.push(await this.#stateOf(tuple, false));
    return states;
  }

  /** The checkpoint of the history, with the states of subgraphs that have a task in it. */
  async stateAt(checkpoint_id: string): Promise<SeenState> {
    const tuple = await this.#saver.getTuple({ configurable: { ...this.#at.configurable, checkpoint_id } });
    if (!tuple) throw new Error(`The engine has no checkpoint ${checkpoint_id}`);
    return this.#stateOf(tuple, true);
  }

  /** The state of the checkpoint as if the commands of these runs had not written to it. */
  async stateWithoutCommands(checkpoint_id: string, runs: ReadonlySet<number>): Promise<SeenState> {
    this.#saver.hidden = runs;
    const at = { configurable: { ...this.#at.configurable, checkpoint_id } };
    return this.#read(() => this.#graph.getState(at)).finally(() => {
      this.#saver.hidden = new Set();
    });
  }

  async #stateOf(tuple: CheckpointTuple, subgraphs: boolean): Promise<SeenState> {
    try {
      return await this.#read(() => this.#graph.getState(tuple.config, { subgraphs }));
    } catch (error) {
      if (isOfCommands(error, tuple)) return toUnreadable(tuple);
      throw error;
    }
  }

  /** Two reads show which ids of messages are new at each read. */
  async #read(read: () => Promise<StateSnapshot>): Promise<SeenState> {
    return markNewIds(toState(await read()), toState(await read()));
  }

  /** Interrupts of tasks that wait for an answer, also those that have failed with one: they execute again. */
  async openInterrupts(): Promise<Record<string, unknown[]>> {
    const tuple: CheckpointTuple | undefined = await this.#saver.getTuple(this.#at);
    const state = await this.#graph.getState(this.#at);
    const writes = tuple?.pendingWrites ?? [];
    const finished = new Set(
      writes.flatMap(([task, channel]) =>
        ['__interrupt__', '__resume__', '__error__'].includes(channel) ? [] : [task],
      ),
    );
    return Object.fromEntries(
      state.tasks
        .filter(({ id, interrupts }) => interrupts.length > 0 && !finished.has(id))
        .map(({ id, interrupts }) => [id, wire(interrupts) as unknown[]]),
    );
  }

  #toCommand({ resume, update, goto }: CommandValue): Command {
    const toGoto = (target: unknown): unknown => {
      if (typeof target !== 'object' || target === null) return target;
      const { node, input } = target as { node: string; input: unknown };
      return new this.#Send(node, input);
    };
    return new Command({
      ...(resume === undefined ? {} : { resume }),
      ...(update === undefined ? {} : { update: update as never }),
      ...(goto === undefined
        ? {}
        : { goto: (Array.isArray(goto) ? goto.map(toGoto) : toGoto(goto)) as never }),
    });
  }

  /** As the state of a subgraph says: the namespace, and the checkpoints of the graphs around it. */
  #configAt(at: SeenState | undefined): Config {
    if (!at) return this.#at;
    const { namespace, checkpoint } = at;
    const parents = at.metadata.parents as Record<string, string>;
    return {
      configurable: {
        ...this.#at.configurable,
        checkpoint_ns: namespace,
        checkpoint_id: checkpoint,
        ...(namespace === '' ? {} : { checkpoint_map: { ...parents, [namespace]: checkpoint } }),
      },
    };
  }
}

/** The engine cannot read a checkpoint to which the commands of two runs have written values of one channel that takes one value. */
const isOfCommands = (error: unknown, { pendingWrites = [] }: CheckpointTuple): boolean => {
  const channels = pendingWrites.flatMap(([task, channel]) => (task === commandTask ? [channel] : []));
  return (error as Error).name === 'InvalidUpdateError' && new Set(channels).size < channels.length;
};

const toUnreadable = ({ config, metadata, parentConfig }: CheckpointTuple): SeenState => ({
  ...toState({ values: {}, next: [], tasks: [], config, metadata, parentConfig } as never),
  isUnreadable: true,
});

const isMessage = (value: object): value is { type: string; lc_kwargs: Fields } & Fields =>
  'lc_kwargs' in value && Symbol.for('langchain.message') in value;

const isSend = (value: object): value is Send => 'lg_name' in value && value.lg_name === 'Send';

const messageKeys = [
  'content',
  'type',
  'name',
  'id',
  'additional_kwargs',
  'response_metadata',
  'tool_calls',
  'invalid_tool_calls',
  'usage_metadata',
  'tool_call_id',
  'status',
  'artifact',
  'metadata',
];

/** The JSON of the values of a graph: that of JSON.stringify, except for messages and errors, which clients get as plain fields. */
const wire = (value: unknown): unknown => {
  const plain = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part;
    if (part instanceof Error) return { name: part.name, message: part.message };
    if (isMessage(part)) return Object.fromEntries(messageKeys.map((key) => [key, plain(part[key])]));
    if (Array.isArray(part)) return part.map(plain);
    if (isSend(part)) return { lg_name: 'Send', node: part.node, args: plain(part.args) };
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, plain(inner)]));
  };
  const text = JSON.stringify(plain(value)) as string | undefined;
  return text === undefined ? null : common(JSON.parse(text));
};

const configurableOf = (config: unknown): Fields =>
  (config as { configurable?: Fields } | undefined)?.configurable ?? {};

const idOf = (config: unknown): string | null =>
  (configurableOf(config)['checkpoint_id'] as string | undefined) ?? null;

/** The state of a subgraph. One that has no checkpoint yet is on the server its namespace only. */
const isSnapshot = (state: unknown): state is StateSnapshot =>
  typeof state === 'object' &&
  state !== null &&
  'values' in state &&
  idOf((state as StateSnapshot).config) !== null;

/**
 * Of the config of a subgraph, or of its state without a checkpoint. Until it has one, a subgraph with a memory of its own has the namespace
 * of its task on the server, where its state is found afterwards, too.
 */
const namespaceOf = (state: unknown, { name, id }: { name: string; id: string }): string | null => {
  const { configurable, config } = (state ?? {}) as {
    configurable?: Fields;
    config?: { configurable?: Fields };
  };
  const ns = (configurable ?? config?.configurable)?.['checkpoint_ns'] as string | undefined;
  return ns === name ? `${name}:${id}` : (ns ?? null);
};

const toTask = ({
  id,
  name,
  path,
  error,
  interrupts,
  state,
  result,
}: StateSnapshot['tasks'][number] & { result?: unknown }): SeenTask => ({
  id,
  name,
  path: wire(path),
  error: error === undefined || error === null ? null : String((error as Error).message ?? error),
  interrupts: wire(interrupts),
  result: wire(result),
  subgraph: isSnapshot(state) ? toState(state) : namespaceOf(state, { name, id }),
});

const toState = ({ values, next, tasks, metadata, config, parentConfig }: StateSnapshot): SeenState => {
  const { source = null, step = null, parents = {} } = (metadata ?? {}) as Fields;
  return {
    // A state whose only channel has no value is `{}` on the server, as the state of a thread without a checkpoint.
    values: wire(values) ?? {},
    next: [...next].toSorted(),
    tasks: tasks.map(toTask).toSorted(byName),
    metadata: { source, step, parents },
    namespace: (configurableOf(config)['checkpoint_ns'] as string | undefined) ?? '',
    checkpoint: idOf(config),
    parent: idOf(parentConfig),
  };
};

const toEvent = (mode: string, data: unknown): unknown => {
  if (mode === 'checkpoints') return withoutResultIds(toState(data as StateSnapshot));
  return eventData(mode, wire(data));
};
