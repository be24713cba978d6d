// Stream transformers: functions of the project that observe the events of a run and derive values from them (`compile({ transformers })`). Clients of
// the thread protocol read these values as custom events: each item of a named channel when it is pushed, and final values at the end of the run.
// The engine has the same in `streamEvents` of version `v3`, which keeps all events of a run in memory.
import type { ProtocolEvent, StreamTransformer } from '@langchain/langgraph';
import { convertToProtocolEvent } from '@langchain/langgraph/stream';
import { onAbort } from '../../../abort.ts';
import { isRecord } from '../../../json/is-record.ts';
import type { ValueCodec } from '../../codec/value-codec.ts';
import { checkpointRefs } from '../../dispatch/protocol.ts';
import { checkpointRef, type CheckpointChunk, type EmitEvent } from './chunk-events.ts';
import type { EngineGraph } from '../graphs/graph-registry.ts';
import { eventName } from './stream-modes.ts';

/** An event of the channel `messages` of the thread protocol. */
interface MessageEvent {
  namespace: readonly string[];
  node?: string | undefined;
  data: unknown;
}

/** Translates the messages of a run to content blocks. */
export interface MessageTranslator {
  take(
    chunk: { name: string; text: string; namespace: readonly string[]; data: unknown },
    mayBegin: () => boolean,
  ): MessageEvent[];
  endTask(task: readonly string[]): MessageEvent[];
}

export interface TransformerTools {
  emit: EmitEvent;
  messages: MessageTranslator;
  /** The JSON value of a chunk, as clients get it. */
  toWire: (chunk: unknown) => unknown;
}

/** A channel of the engine, or of another copy of it. */
interface Channel {
  channelName?: string;
  _wire(push: (item: unknown) => void): void;
  _close(): void;
  _fail(error: unknown): void;
}

const brand = Symbol.for('langgraph.stream_channel');

const isChannel = (value: unknown): value is Channel =>
  typeof value === 'object' && value !== null && brand in value;

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

export class StreamTransformers {
  readonly #tools: TransformerTools;
  readonly #transformers: readonly StreamTransformer[];
  readonly #channels: Channel[] = [];
  readonly #finals: { name: string; value: Promise<unknown> }[] = [];
  /** The namespace of the event that is being processed. */
  #namespace: readonly string[] = [];
  #seq = 0;

  /** `factories`: of a compiled graph. Those of langchain derive values only for programs that run the graph themselves. */
  constructor(factories: readonly (() => StreamTransformer)[], tools: TransformerTools) {
    this.#tools = tools;
    this.#transformers = factories
      .map((create) => create())
      .filter((transformer) => !('__native' in transformer));
    for (const transformer of this.#transformers) {
      transformer.onRegister?.({ push: (namespace, event) => this.#push(namespace, event) });
      this.#wire(transformer.init());
    }
  }

  /** Takes every chunk of the engine. Throws what a transformer throws. */
  chunk(namespace: string[], mode: string, payload: unknown): void {
    if (this.#transformers.length === 0) return;
    if (mode === 'messages') return this.#messages(this.#translate(namespace, payload));
    if (mode === 'tasks') this.#endTask(namespace, payload);
    const shown = mode === 'checkpoints' ? checkpointRef(payload as CheckpointChunk) : payload;
    const given = { namespace, mode, payload: shown, seq: this.#seq };
    for (const event of convertToProtocolEvent(given as never)) this.#push(namespace, event);
  }

  /** Emits the final values, when the graph has ended without an error. Waits for them until the signal is aborted. */
  async finish(signal: AbortSignal): Promise<void> {
    if (this.#transformers.length === 0) return;
    const finalized = this.#transformers.map(async (transformer) => transformer.finalize?.());
    for (const channel of this.#channels) channel._close();
    const emitted = this.#finals.map(async ({ name, value }) => {
      const payload = (await value) ?? null;
      if (!signal.aborted) this.#tools.emit('custom', { name, payload });
    });
    const settled = Promise.allSettled([...finalized, ...emitted]);
    let stopWaiting = (): void => undefined;
    const aborted = new Promise<void>((resolve) => {
      stopWaiting = onAbort(signal, () => resolve());
    });
    await Promise.race([settled, aborted]);
    stopWaiting();
  }

  /** Waits for the end of the graph, and then for the final values. */
  async follow(ended: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await ended;
    } catch (error) {
      this.fail(error);
      throw error;
    }
    await this.finish(signal);
  }

  fail(error: unknown): void {
    for (const channel of this.#channels) channel._fail(error);
    for (const transformer of this.#transformers) transformer.fail?.(error);
  }

  #wire(projection: unknown): void {
    if (!isRecord(projection)) return;
    for (const [key, value] of Object.entries(projection)) {
      if (isChannel(value)) this.#wireChannel(value);
      else if (isPromise(value)) {
        const final = Promise.resolve(value);
        // A run that fails rejects its final values, and nobody awaits them.
        final.catch(() => undefined);
        this.#finals.push({ name: key, value: final });
      }
    }
  }

  /** Channels without a name are for the process alone. */
  #wireChannel(channel: Channel): void {
    this.#channels.push(channel);
    const name = channel.channelName;
    if (name === undefined) return;
    channel._wire((item) =>
      this.#tools.emit(eventName('custom', this.#namespace), { name, payload: item ?? null }),
    );
  }

  #translate(namespace: string[], payload: unknown): MessageEvent[] {
    const data = this.#tools.toWire(payload);
    return this.#tools.messages.take({ name: 'messages', text: '', namespace, data }, () => true);
  }

  /** The messages of a task end with it. */
  #endTask(namespace: string[], payload: unknown): void {
    if (!isRecord(payload) || !('result' in payload || 'error' in payload)) return;
    const task = `${String(payload['name'])}:${String(payload['id'])}`;
    this.#messages(this.#tools.messages.endTask([...namespace, task]));
  }

  #messages(events: readonly MessageEvent[]): void {
    for (const { namespace, node, data } of events) {
      const params = {
        namespace: [...namespace],
        timestamp: Date.now(),
        ...(node === undefined ? {} : { node }),
        data,
      };
      this.#push(params.namespace, { type: 'event', seq: this.#seq, method: 'messages', params });
    }
  }

  #push(namespace: string[], event: ProtocolEvent): void {
    const outer = this.#namespace;
    this.#namespace = namespace;
    const numbered = { ...event, seq: this.#seq++ };
    for (const transformer of this.#transformers) transformer.process(numbered);
    this.#namespace = outer;
  }
}

/** The transformers of a run; undefined when it has none, and for runs of other protocols, whose clients do not read derived values. */
export const openTransformers = (
  graph: EngineGraph,
  { stream_mode }: { stream_mode: readonly string[] },
  { codec, translateMessages }: { codec: ValueCodec; translateMessages: () => MessageTranslator },
  emit: EmitEvent,
): StreamTransformers | undefined => {
  const factories = (graph.streamTransformers ?? []) as readonly (() => StreamTransformer)[];
  if (factories.length === 0 || !stream_mode.includes(checkpointRefs)) return undefined;
  const toWire = (chunk: unknown): unknown => JSON.parse(codec.toJson(chunk, 'messages'));
  return new StreamTransformers(factories, { emit, messages: translateMessages(), toWire });
};
