// Converts the chunks that the engine streams to events of the API, for the stream modes that the client requested.
import type { BaseMessage, BaseMessageChunk } from '@langchain/core/messages';
import { checkpointRefs, type RunError } from '../../dispatch/protocol.ts';
import { eventName } from './stream-modes.ts';
import { SubgraphLifecycle } from './subgraph-lifecycle.ts';
import { type EventTexts, TokenTexts } from './token-texts.ts';

/** Receives the name and the value of an event. The value is serialised only if the event has a reader. */
export type EmitEvent = (event: string, value: unknown) => void;

/** `texts` serialises the value of a token. */
type EmitChunk = (event: string, value: unknown, texts?: EventTexts) => void;

export interface EngineConfig {
  configurable?: Record<string, unknown>;
  [key: string]: unknown;
}

/** The engine's report of a checkpoint: mode `checkpoints`, and inside mode `debug`. */
export interface CheckpointChunk {
  config: EngineConfig;
  values: unknown;
  metadata: { step: number; counters_since_delta_snapshot?: object } & Record<string, unknown>;
  next: string[];
  tasks: { id: string; name: string; path: unknown[]; state?: EngineConfig }[];
  parentConfig?: EngineConfig;
  /** The paths of the tasks, where these have none. */
  paths?: unknown[][];
}

export interface DebugChunk {
  type: 'checkpoint' | 'task' | 'task_result';
  payload: unknown;
}

/** What the engine streams. */
export type Chunk = [namespace: string[], mode: string, payload: unknown];

export class ChunkEvents {
  readonly #requested: ReadonlySet<string>;
  readonly #subgraphs: boolean;
  readonly #emit: EmitChunk;
  readonly #tokens: TokenTexts;
  /** Undefined without the stream mode `messages`. Its events have no namespace. */
  readonly messages: MessageEvents | undefined;
  /** Undefined without the stream mode `lifecycle`. Its events are those of all subgraphs, also if subgraphs are not requested. */
  readonly #lifecycle: SubgraphLifecycle | undefined;
  /** By namespace: a state that waits for its checkpoint, which clients of the thread protocol expect immediately before it. */
  readonly #states = new Map<string, () => void>();

  constructor(requested: readonly string[], subgraphs: boolean, emit: EmitChunk, texts: EventTexts) {
    this.#requested = new Set(requested);
    this.#subgraphs = subgraphs;
    this.#emit = emit;
    this.#tokens = new TokenTexts(texts);
    this.messages = this.#requested.has('messages') ? new MessageEvents(emit) : undefined;
    this.#lifecycle = this.#requested.has('lifecycle') ? new SubgraphLifecycle(emit) : undefined;
  }

  /** The engine reports a state, then its checkpoint: the next chunk of the same graph, unless the graph stops there. */
  chunk(namespace: string[], mode: string, payload: unknown): void {
    this.#lifecycle?.chunk(namespace, mode, payload);
    if (!this.#requested.has(checkpointRefs)) return this.#convert(namespace, mode, payload);
    if (mode === 'checkpoints') this.#refer(namespace, payload as CheckpointChunk);
    const graph = namespace.join('|');
    this.#emitState(graph);
    if (mode === 'values' && !isInterrupt(payload))
      this.#states.set(graph, () => this.#convert(namespace, mode, payload));
    else this.#convert(namespace, mode, payload);
  }

  /** Emits the states that still wait. To be called when the engine has ended, also by an error. */
  end(): void {
    for (const graph of this.#states.keys()) this.#emitState(graph);
  }

  /** Reports the end of the subgraphs that the run has not finished. Not to be called for a lost attempt, which another one continues. */
  endSubgraphs(error: RunError | null): void {
    this.#lifecycle?.end(error);
  }

  #emitState(graph: string): void {
    const emit = this.#states.get(graph);
    this.#states.delete(graph);
    emit?.();
  }

  #refer(namespace: string[], payload: CheckpointChunk): void {
    if (this.#subgraphs || namespace.length === 0)
      this.#emit(eventName(checkpointRefs, namespace), checkpointRef(payload));
  }

  #convert(namespace: string[], mode: string, payload: unknown): void {
    if (mode === 'messages') return this.#message(namespace, payload as never);
    // Python graphs make the events of stream mode `messages` themselves.
    if (mode.startsWith('messages/')) return this.#emit(mode, payload);
    if (!this.#subgraphs && namespace.length > 0) {
      // The engine has one writer for the whole tree: custom events of subgraphs are events of the run, also if subgraphs are not requested.
      if (mode === 'custom' && this.#requested.has(mode)) this.#emit(mode, payload);
      return;
    }
    const emit: EmitEvent = (name, value) => this.#emit(eventName(name, namespace), value);
    if (this.#requested.has(mode)) emitMode(mode, payload, emit);
    // After the values that contain the messages, as the stock server does.
    if (mode === 'values') this.messages?.values(payload);
  }

  /** The namespace of an event names the graph that contains the node. Older engines append the node, which is removed here. */
  #message(namespace: string[], payload: [unknown, { langgraph_checkpoint_ns?: unknown }]): void {
    const isOfNode = namespace.length > 0 && namespace.join('|') === payload[1].langgraph_checkpoint_ns;
    const graph = isOfNode ? namespace.slice(0, -1) : namespace;
    this.#emit(eventName('messages', this.#subgraphs ? graph : []), payload, this.#tokens);
  }
}

const emitMode = (mode: string, payload: unknown, emit: EmitEvent): void => {
  if (mode === 'checkpoints') emit(mode, checkpointEvent(payload as CheckpointChunk));
  else if (mode === 'debug') emit(mode, debugEvent(payload as DebugChunk));
  else emit(mode, payload);
};

/** Keys of `configurable` that belong to the engine, or that describe the user of the run, who may have tokens. */
const privateKey = /^(__|(svc|langgraph)_auth_)/;

/** A config without callbacks and private keys. */
const publicConfig = (config: EngineConfig | undefined): EngineConfig | undefined => {
  if (config === undefined) return undefined;
  const { callbacks: _, ...rest } = config;
  const configurable = Object.entries(config.configurable ?? {}).filter(([key]) => !privateKey.test(key));
  return { ...rest, configurable: Object.fromEntries(configurable) };
};

const checkpointOf = (config: EngineConfig | undefined) => {
  const { thread_id, checkpoint_ns, checkpoint_id } = config?.configurable ?? {};
  return config === undefined ? null : { thread_id, checkpoint_ns: checkpoint_ns ?? '', checkpoint_id };
};

const checkpointEvent = (chunk: CheckpointChunk) => {
  const { parentConfig, config, tasks, paths: _, ...rest } = chunk;
  return {
    ...rest,
    config: publicConfig(config),
    parent_config: publicConfig(parentConfig) ?? null,
    checkpoint: checkpointOf(config),
    parent_checkpoint: checkpointOf(parentConfig),
    tasks: tasks.map(({ state, ...task }) => ({
      ...task,
      checkpoint: publicConfig(state)?.configurable ?? null,
    })),
  };
};

/** A state with `__interrupt__` announces an interrupt. No checkpoint follows it. */
export const isInterrupt = (value: unknown): value is { __interrupt__: unknown[] } =>
  typeof value === 'object' && value !== null && '__interrupt__' in value;

/** True for the updates of a task that the engine has not executed in this run. */
export const isCached = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  (value as { __metadata__?: { cached?: boolean } }).__metadata__?.cached === true;

/** What the thread protocol reports of a checkpoint. */
export const checkpointRef = ({ config, parentConfig, metadata }: CheckpointChunk) => {
  const parent_id = checkpointOf(parentConfig)?.checkpoint_id;
  const { step, source } = metadata;
  return {
    id: checkpointOf(config)?.checkpoint_id,
    ...(parent_id === undefined ? {} : { parent_id }),
    step,
    source,
  };
};

const debugEvent = (chunk: DebugChunk) =>
  chunk.type === 'checkpoint'
    ? { ...chunk, payload: checkpointEvent(chunk.payload as CheckpointChunk) }
    : chunk;

const publicCheckpoint = (payload: CheckpointChunk) => ({
  ...payload,
  config: publicConfig(payload.config),
  parentConfig: publicConfig(payload.parentConfig),
  tasks: payload.tasks.map((task) => ({ ...task, state: publicConfig(task.state) })),
});

/** A chunk of the engine, of any graph of the tree, without private keys: for events of mode `events`. */
export const publicChunk = (chunk: unknown): unknown => {
  if (!Array.isArray(chunk)) return chunk;
  // A namespace may precede the mode.
  const at = chunk.findIndex((part) => part === 'checkpoints' || part === 'debug');
  const payload: unknown = chunk[at + 1];
  if (at === -1 || typeof payload !== 'object' || payload === null) return chunk;
  const isDebug = chunk[at] === 'debug';
  const debug = payload as DebugChunk;
  if (isDebug && debug.type !== 'checkpoint') return chunk;
  const shown = isDebug
    ? { ...debug, payload: publicCheckpoint(debug.payload as CheckpointChunk) }
    : publicCheckpoint(payload as CheckpointChunk);
  return chunk.with(at + 1, shown);
};

type Emit = (mode: string, value: unknown) => void;

const isMessage = (value: unknown): value is BaseMessage =>
  typeof value === 'object' && value !== null && '_getType' in value && 'lc_kwargs' in value;

const isChunk = (message: BaseMessage): message is BaseMessageChunk => 'concat' in message;

/**
 * Stream mode `messages`: messages while they grow. Events: `messages/metadata` once per message of a model, `messages/partial` with the
 * message so far at every token, `messages/complete` for messages that are in the state.
 */
class MessageEvents {
  readonly #emit: Emit;
  readonly #partial = new Map<string, BaseMessage>();
  readonly #complete = new Set<string>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** A token of a model. */
  token(message: BaseMessage & { id: string }, metadata: Record<string, unknown>): void {
    const { id } = message;
    const before = this.#partial.get(id);
    if (before === undefined) this.#emit('messages/metadata', { [id]: { metadata } });
    const grown = before && isChunk(before) && isChunk(message) ? before.concat(message) : message;
    this.#partial.set(id, grown);
    this.#emit('messages/partial', [grown]);
  }

  /** A state of stream mode `values`: all messages in it are complete. */
  values(state: unknown): void {
    const messages =
      typeof state === 'object' && state !== null ? (state as { messages?: unknown }).messages : undefined;
    if (!Array.isArray(messages)) return;
    const fresh = messages.filter(isMessage).filter(({ id }) => id !== undefined && !this.#complete.has(id));
    for (const { id } of fresh) {
      this.#complete.add(id as string);
      this.#partial.delete(id as string);
    }
    if (fresh.length > 0) this.#emit('messages/complete', fresh);
  }
}
