// V8 flags of the processes that svc starts. They hold for the whole process, so a program that embeds the server keeps its own: the
// handler calls none of these functions.
//
// V8 optimizes a function when it has executed for long enough. A server and its executors execute their paths once for each request, so
// with the defaults of V8 they need thousands of runs until they are fast.
import { setFlagsFromString } from 'node:v8';

/**
 * By major version of Node: after how much execution V8 optimizes a function, 0.3 of its default. Node 20 counts bytes of bytecode, later
 * versions count calls. Lower values gain nothing more, and compile more at the start: `bench/cost.md` has the figures. Versions that are
 * not listed keep the default, because V8 may change its flags.
 */
const flags: Readonly<Record<string, string>> = {
  20: '--interrupt-budget=20000',
  22: '--invocation-count-for-turbofan=900',
  24: '--invocation-count-for-turbofan=900',
};

/** The flag for this version of Node. */
export const optimizationFlag = flags[process.versions.node.split('.')[0] ?? ''];

/** Lets V8 optimize functions of this process earlier. Call it after the start, whose functions mostly execute once. */
export const optimizeEarly = (): void => {
  if (optimizationFlag !== undefined) setFlagsFromString(optimizationFlag);
};

/** Exposes the collector of V8 to what looks for it afterwards: `garbageCollector()` when the server starts, and `releaseMemoryWhenIdle()`. */
export const exposeGarbageCollector = (): void => setFlagsFromString('--expose-gc');
