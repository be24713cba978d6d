// Reads the chunks of the engine from its generator. `graph.stream()` wraps the same generator in two more streams, which
// keep about half a kilobyte per chunk until the run ends, and cause three quarters of the time that a chunk takes.
// Nothing here waits between chunks: they would collect in the engine's queue, which has no limit, while checkpoints are stored without them.
import { ensureConfig } from '@langchain/core/runnables';
import { onAbort } from '../../../abort.ts';
import type { EngineGraph } from '../graphs/graph-registry.ts';
import type { StoredIds } from '../../checkpoints/checkpoint-ids.ts';
import {
  type CheckpointChunk,
  type Chunk,
  type DebugChunk,
  type EngineConfig,
  publicChunk,
} from './chunk-events.ts';

/** An event of `streamEvents()`. */
export interface CallbackEvent {
  event: string;
  run_id: string;
  tags?: string[];
  data: { chunk?: unknown };
}

/**
 * Calls `take` with every chunk, in the microtasks after the engine has emitted it. Rejects as soon as the signal is
 * aborted, because a graph may ignore the signal; later chunks are dropped.
 */
export const takeChunks = (
  graph: EngineGraph,
  input: unknown,
  options: object & { signal: AbortSignal },
  take: (chunk: Chunk) => void,
): Promise<void> => {
  const { signal } = options;
  const config = ensureConfig({ recursionLimit: graph.config?.recursionLimit, ...options } as object);
  const chunks = graph._streamIterator(input as never, config as never) as AsyncIterable<Chunk>;
  const takeAll = async (): Promise<void> => {
    for await (const chunk of chunks) {
      if (signal.aborted) return;
      take(chunk);
    }
  };
  return new Promise((resolve, reject) => {
    const stopWaiting = onAbort(signal, () => reject(signal.reason as Error));
    void takeAll().then(resolve, reject).finally(stopWaiting);
  });
};

export interface EventTaker {
  run_id: string;
  /** A chunk of the run itself. */
  chunk: (chunk: Chunk) => void;
  event: (event: CallbackEvent) => void;
}

/** Stream mode `events`: the callback events of all graphs of the tree, including the engine's chunks. */
export const takeEvents = async (
  graph: EngineGraph,
  input: unknown,
  options: object,
  take: EventTaker,
): Promise<void> => {
  const events = graph.streamEvents(
    input as never,
    { ...options, version: 'v2' } as never,
  ) as unknown as AsyncIterable<CallbackEvent>;
  for await (const event of events) {
    if (event.tags?.includes('langsmith:hidden')) continue;
    const { data } = event;
    const isChunk = event.event === 'on_chain_stream';
    // As in the stock server, the chunks of the run itself are events of the other modes only.
    if (isChunk && event.run_id === take.run_id) take.chunk(data.chunk as Chunk);
    else take.event(isChunk ? { ...event, data: { ...data, chunk: publicChunk(data.chunk) } } : event);
  }
};

// The engine's reports of checkpoints, with the ids under which these are stored, so that clients can read them and fork there.
const idIn = (config: EngineConfig | undefined): string | undefined =>
  config?.configurable?.['checkpoint_id'] as string | undefined;

const withId = (config: EngineConfig, checkpoint_id: string): EngineConfig => ({
  ...config,
  configurable: { ...config.configurable, checkpoint_id },
});

const storedCheckpoint = (ids: StoredIds, chunk: CheckpointChunk): CheckpointChunk => {
  const { config, parentConfig } = chunk;
  const [id, parentId] = [idIn(config), idIn(parentConfig)];
  if (id === undefined) return chunk;
  const parent = parentId && ids.of(parentId);
  const ns = (config.configurable?.['checkpoint_ns'] ?? '') as string;
  const stored = ids.assign(ns, id, parent);
  if (stored === id && parent === parentId) return chunk;
  return {
    ...chunk,
    config: withId(config, stored),
    ...(parentConfig && parent ? { parentConfig: withId(parentConfig, parent) } : {}),
  };
};

/** A chunk with the ids under which checkpoints are stored. The checkpoint may not have been put yet. */
export const withStoredIds = (ids: StoredIds | undefined, mode: string, payload: unknown): unknown => {
  if (ids === undefined) return payload;
  if (mode === 'checkpoints') return storedCheckpoint(ids, payload as CheckpointChunk);
  const debug = payload as DebugChunk;
  if (mode !== 'debug' || debug.type !== 'checkpoint') return payload;
  return { ...debug, payload: storedCheckpoint(ids, debug.payload as CheckpointChunk) };
};
