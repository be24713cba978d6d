// One run, state update or read of a Python graph, as this process sees it: answers the frames of its saver and of its store.
import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  BaseCheckpointSaver,
  BaseStore,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  Operation,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { StoredText } from '../codec/stored-text.ts';
import { createTextCodec } from '../codec/text-codec.ts';
import type { Frame } from './frames.ts';
import type { PythonReply } from './python-process.ts';
import { BrokenValue, RunValues, type ValueSpec } from './run-values.ts';
import { readShape, type Shape, type ShapeReader } from './shapes.ts';

const codec = createTextCodec();

/** Where a checkpoint is. */
interface Place {
  thread?: string;
  ns?: string;
  id?: string | null;
  map?: Record<string, string> | null;
  resuming?: boolean | null;
}

type Value = StoredText | StoredText[];

export interface SessionParts {
  saver: BaseCheckpointSaver;
  store?: BaseStore | undefined;
  /** Called when a checkpoint could not be read or stored. */
  onFailure?: (error: unknown) => void;
}

export class PythonSession {
  readonly number: number;
  readonly values = new RunValues();
  readonly #saver: BaseCheckpointSaver;
  readonly #store: BaseStore | undefined;
  readonly #metadata = new Map<number, StoredText>();
  /** The last value of each channel, by namespace and channel. */
  readonly #channels = new Map<string, Value>();
  readonly #onFailure: (error: unknown) => void;

  constructor(number: number, parts: SessionParts) {
    this.number = number;
    this.#saver = parts.saver;
    this.#store = parts.store;
    this.#onFailure = parts.onFailure ?? (() => undefined);
  }

  reader(parts: readonly Buffer[]): ShapeReader {
    return { parts, values: this.values, metadata: this.#metadata };
  }

  /** Answers a frame. */
  async receive(frame: Frame): Promise<PythonReply> {
    if (frame.header.kind === 'store') return this.#askStore(frame);
    try {
      return await this.#askSaver(frame);
    } catch (error) {
      this.#onFailure(error);
      throw error;
    }
  }

  async #askSaver(frame: Frame): Promise<PythonReply> {
    switch (frame.header.kind) {
      case 'get':
        return this.#get(frame);
      case 'list':
        return this.#list(frame);
      case 'deltas':
        return this.#deltas(frame);
      case 'put':
        return this.#put(frame);
      case 'writes':
        return this.#putWrites(frame);
      case 'delete':
        await this.#saver.deleteThread(frame.header['thread'] as string);
        return {};
      default:
        throw new BrokenValue(`a frame of the unknown kind ${frame.header.kind}`);
    }
  }

  async #get({ header }: Frame): Promise<PythonReply> {
    const config = configOf(header);
    const tuple = await this.#saver.getTuple(config);
    const parts: string[] = [];
    const { __pregel_resuming: resuming } = config.configurable;
    const answer = { tuple: tuple ? this.#describe(tuple, parts) : null };
    return { header: resuming === false ? { ...answer, resuming } : answer, parts };
  }

  async #list({ header }: Frame): Promise<PythonReply> {
    const { before, filter, limit } = header as {
      before?: string | null;
      filter?: Record<string, unknown> | null;
      limit?: number | null;
    };
    const options = {
      ...(before ? { before: { configurable: { checkpoint_id: before } } } : {}),
      ...(filter ? { filter } : {}),
      ...(typeof limit === 'number' ? { limit } : {}),
    };
    const parts: string[] = [];
    const tuples: unknown[] = [];
    for await (const tuple of this.#saver.list(configOf(header), options))
      tuples.push(this.#describe(tuple, parts));
    return { header: { tuples }, parts };
  }

  async #deltas({ header }: Frame): Promise<PythonReply> {
    const channels = header['channels'] as string[];
    const history = await this.#saver.getDeltaChannelHistory({ config: configOf(header), channels });
    const parts: string[] = [];
    const add = (value: unknown): number => parts.push(codec.encode(value)) - 1;
    const found = Object.entries(history).map(([channel, { seed, writes }]) => [
      channel,
      {
        ...(seed === undefined ? {} : { seed: add(seed) }),
        writes: writes.map(([task, , value]) => [task, add(value)]),
      },
    ]);
    return { header: { channels: Object.fromEntries(found) as unknown }, parts };
  }

  async #put({ header, parts }: Frame): Promise<PythonReply> {
    const {
      ns = '',
      checkpoint,
      metadata,
      values,
    } = header as object as Place & {
      checkpoint: Omit<Checkpoint, 'channel_values'>;
      metadata: CheckpointMetadata;
      values: Record<string, ValueSpec | null>;
    };
    const channel_values: Record<string, Value> = {};
    for (const [channel, spec] of Object.entries(values)) {
      const key = `${ns}\n${channel}`;
      if (spec !== null) this.#channels.set(key, this.values.read(key, spec, parts));
      const value = this.#channels.get(key);
      if (value === undefined) throw new BrokenValue(`the value of the channel ${channel} is missing`);
      channel_values[channel] = value;
    }
    await this.#saver.put(configOf(header), { ...checkpoint, channel_values }, metadata, {});
    return {};
  }

  async #putWrites({ header, parts }: Frame): Promise<PythonReply> {
    const { writes, task, path } = header as object as {
      writes: [channel: string, shape: Shape][];
      task: string;
      path: string;
    };
    const reader = this.reader(parts);
    const values = writes.map(([channel, shape]): PendingWrite => [channel, readShape(shape, reader)]);
    await this.#saver.putWrites(configOf(header), values, task, path);
    return {};
  }

  async #askStore({ header }: Frame): Promise<PythonReply> {
    if (!this.#store) throw new Error('there is no store');
    const results = await this.#store.batch(header['operations'] as Operation[]);
    return { header: { results } };
  }

  #describe(tuple: CheckpointTuple, parts: string[]): object {
    const { channel_values, ...checkpoint } = tuple.checkpoint;
    const {
      thread_id,
      checkpoint_ns: ns = '',
      checkpoint_id,
    } = (tuple.config.configurable ?? {}) as Record<string, string>;
    const values: Record<string, unknown> = {};
    for (const [channel, value] of Object.entries(channel_values as Record<string, Value>)) {
      const key = `${ns}\n${channel}`;
      this.#channels.set(key, value);
      values[channel] = this.values.describe(key, value, parts);
    }
    const writes = (tuple.pendingWrites ?? []).map(([task, channel, value]) => [
      task,
      channel,
      parts.push(codec.encode(value)) - 1,
    ]);
    return {
      thread: thread_id,
      ns,
      id: checkpoint_id,
      checkpoint,
      metadata: tuple.metadata,
      values,
      parent: tuple.parentConfig?.configurable?.['checkpoint_id'] as unknown,
      writes,
    };
  }
}

const configOf = (header: object): RunnableConfig & { configurable: Record<string, unknown> } => {
  const { thread, ns, id, map, resuming } = header as Place;
  return {
    configurable: {
      thread_id: thread,
      ...(typeof ns === 'string' ? { checkpoint_ns: ns } : {}),
      ...(id ? { checkpoint_id: id } : {}),
      ...(map ? { checkpoint_map: map } : {}),
      ...(typeof resuming === 'boolean' ? { __pregel_resuming: resuming } : {}),
    },
  };
};
