// Reads the chunks of the engine from its generator. `graph.stream()` wraps the same generator in two more streams, which
// keep about half a kilobyte per chunk until the run ends, and cause three quarters of the time that a chunk takes.
// Nothing here waits between chunks: they would collect in the engine's queue, which has no limit, while checkpoints are stored without them.
import { ensureConfig } from '@langchain/core/runnables';
import { onAbort } from '../../abort.ts';
import type { Graph } from './graph-registry.ts';

export type Chunk = [namespace: string[], mode: string, payload: unknown];

/**
 * Calls `take` with every chunk, in the microtasks after the engine has emitted it. Rejects as soon as the signal is
 * aborted, because a graph may ignore the signal; later chunks are dropped.
 */
export const takeChunks = (
  graph: Graph,
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
