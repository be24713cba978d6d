// Gives memory back to the system when the process has become idle. Only processes that svc starts do that, because a collection blocks the
// whole process, for about 50 ms.
//
// The young generation of V8 grows to 32 MB under load and keeps that size. V8 shrinks it at a collection only when little was allocated in the
// five seconds before. So the first collection after work frees objects, and the next one shrinks the young generation.
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { exposeGarbageCollector } from './process-flags.ts';

/** V8 looks back for five seconds to see how much was allocated. */
const intervalMs = 5_000;
/** The event loop of an idle process executes for at most this share of the time. */
const idleShare = 0.05;
/** A smaller young generation is not worth a collection. */
const youngBytesMin = 4_194_304;
/** Collections in each idle period. */
const collectionsMax = 3;
/** Least time between the last collection of an idle period and the first collection of the next one. */
const pauseMs = 30_000;

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;

export const releaseMemoryWhenIdle = (): void => {
  exposeGarbageCollector();
  const collect = runInNewContext('gc') as () => void;
  let since = performance.eventLoopUtilization();
  let collections = 0;
  let collectedMs = -Infinity;
  let hasWorked = false;
  setInterval(() => {
    const isIdle = performance.eventLoopUtilization(since).utilization <= idleShare;
    if (!isIdle) hasWorked = true;
    else if (hasWorked && performance.now() - collectedMs >= pauseMs) {
      collections = 0;
      hasWorked = false;
    }
    if (isIdle && collections < collectionsMax && youngBytes() > youngBytesMin) {
      collect();
      collections += 1;
      collectedMs = performance.now();
    }
    since = performance.eventLoopUtilization();
  }, intervalMs).unref();
};
