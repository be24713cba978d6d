// Lets a test kill the executor in a node of a run: a file, named by the thread, has the number of nodes that still execute before.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnableConfig } from '@langchain/core/runnables';

const fileOf = (thread_id: string): string => join(tmpdir(), `svc-kill-switch-${thread_id}`);

/** The executor of the next run of the thread is killed in a node, once. */
export const armKillSwitch = (thread_id: string, nodesBefore: number): void =>
  writeFileSync(fileOf(thread_id), String(nodesBefore));

/** True if no node was killed. */
export const disarmKillSwitch = (thread_id: string): boolean => {
  const file = fileOf(thread_id);
  const wasArmed = leftIn(file) !== undefined;
  rmSync(file, { force: true });
  return wasArmed;
};

const leftIn = (file: string): number | undefined => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
};

/** Called by every node of the graphs. */
export const mayBeKilled = (config: RunnableConfig): void => {
  const file = fileOf(String(config.configurable?.['thread_id']));
  const left = leftIn(file);
  if (left === undefined) return;
  if (left > 0) return writeFileSync(file, String(left - 1));
  rmSync(file);
  process.kill(process.pid, 'SIGKILL');
};
