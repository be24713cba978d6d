// A gate is a file of a test: a graph waits until the test has created it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the gate is open; rejects when the run is cancelled. */
export const passGate = async (name: string, signal?: AbortSignal): Promise<void> => {
  const file = join(process.env['GATES']!, name);
  while (!existsSync(file)) await sleep(10, undefined, signal ? { signal } : {});
};
