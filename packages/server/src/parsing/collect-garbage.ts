// A parser thread that has nothing to do keeps the garbage of its last task: hundreds of megabytes after a large one. It is collected
// at once. The main thread is not held up.
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const garbageMin = 33_554_432;

/** Returns what collects the thread's garbage when there may be much. */
export const garbageCollector = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    const { used_heap_size, external_memory } = getHeapStatistics();
    if (used_heap_size + external_memory > garbageMin) collect();
  };
};
