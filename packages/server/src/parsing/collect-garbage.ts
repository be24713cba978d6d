// Collects garbage after large requests, which leave hundreds of megabytes of it: V8 lets garbage grow with the heap.
import { getHeapStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface GarbageLimits {
  /** Bytes by which the heap and its buffers must exceed their size at rest. */
  bytesMin: number;
  /** The share of the time that collections may take. */
  timeShareMax: number;
}

/**
 * Returns a function that collects the garbage of the calling thread when there may be much. It blocks the thread, for about 50 ms in
 * the server. Does nothing in a process without `--expose-gc`, such as a program that embeds the server.
 */
export const garbageCollector = ({ bytesMin, timeShareMax }: GarbageLimits): (() => void) => {
  const collect = runInNewContext('globalThis.gc') as (() => void) | undefined;
  if (collect === undefined) return () => undefined;
  /**
   * Bytes in use at rest, as measured after collections. A collection raises the value only slightly, because memory of other requests
   * that are still handled is garbage soon.
   */
  let bytesAtRest = bytesUsed();
  let notBefore = 0;
  return () => {
    const startedMs = performance.now();
    if (startedMs < notBefore || bytesUsed() < bytesAtRest + bytesMin) return;
    collect();
    bytesAtRest = Math.min(bytesUsed(), bytesAtRest + bytesMin / 8);
    const endedMs = performance.now();
    notBefore = endedMs + (endedMs - startedMs) * (1 / timeShareMax - 1);
  };
};

const bytesUsed = (): number => {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
};
