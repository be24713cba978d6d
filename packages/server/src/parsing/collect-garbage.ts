// V8 lets garbage grow with the heap, and large requests leave hundreds of megabytes of it. It is collected when they are done.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface GarbageLimits {
  /** How much more than at rest the heap and its buffers must have. */
  bytesMin: number;
  /** The share of the time that collections may take. */
  timeShareMax: number;
}

/** Returns what collects the garbage of the calling thread when there may be much. It holds the thread up: about 50 ms for the server. */
export const garbageCollector = ({ bytesMin, timeShareMax }: GarbageLimits): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  /** What is used at rest, as collections have shown. Each raises it little: what another request still used is garbage soon. */
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
