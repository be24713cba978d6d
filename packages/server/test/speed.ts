// Limits of tests are written for a fast, idle machine, and scaled by how much slower this one is. The configuration of vitest measures it
// once; workers and the programs that they start inherit the result.
import { createHash } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';

const variable = 'SVC_TEST_SLOWDOWN';

/** CPU that the fixed work takes on the machine for which the limits were written. */
const referenceMs = 100;

/** A machine that is slower than this would need days for the tests; a broken measurement must not make limits endless. */
const slowdownMax = 12;

/** Hashing and JSON, as servers do. Returns the CPU that it took, which other processes hardly change. */
const fixedWorkMs = (): number => {
  const value = Array.from({ length: 2_000 }, (_, index) => ({ index, text: `text ${index}` }));
  const begun = process.cpuUsage();
  let text = JSON.stringify(value);
  for (let round = 0; round < 50; round++) {
    text = JSON.stringify(JSON.parse(text));
    createHash('sha256').update(text).digest();
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
};

/**
 * How many times longer than on the idle reference machine work may take here, at least 1. Load of other programs counts beside the
 * processes of a test run, which are about two more than there are cores.
 */
const measuredSlowdown = (): number => {
  const own = availableParallelism() + 2;
  const load = (loadavg()[0] ?? 0) / own; // 0 on Windows
  const speed = Math.max(1, fixedWorkMs() / referenceMs);
  return Math.min(slowdownMax, speed * (1 + load));
};

/** Called by configurations of vitest. The result holds for all processes of the test run. */
export const measureSlowdown = (): void => {
  process.env[variable] ??= measuredSlowdown().toFixed(2);
};

/** Scales a time limit, in any unit, for this machine. */
export const scaled = (limit: number): number => Math.ceil(limit * Number(process.env[variable] ?? 1));
