// Finds the runs of each thread. The file has them by run id, so each is read once.
import type { FileHandle } from 'node:fs/promises';
import { type FilePart, readPart } from '../engine/thread-import/file-part.ts';
import { Problem } from '@svc/contract/problem';
import type { DevServerFolder } from './dev-server-folder.ts';
import { assertRun } from './dev-server-rows.ts';

export interface FoundRuns {
  /** By thread id, in the order of creation. */
  ofThread: Map<string, FilePart[]>;
  leftOut: { run_id: string; reason: string; isFault: boolean }[];
}

export const findRuns = async (
  { path, runs, threads }: DevServerFolder['ops'],
  handle: FileHandle,
  signal: AbortSignal,
): Promise<FoundRuns> => {
  const found: FoundRuns = { ofThread: new Map(), leftOut: [] };
  for (const [run_id, part] of runs) {
    signal.throwIfAborted();
    const run = await readRun(path, handle, part);
    if (run instanceof Problem) {
      found.leftOut.push({ run_id, reason: run.message, isFault: true });
      continue;
    }
    const thread_id = String(run.thread_id);
    if (!threads.has(thread_id)) {
      found.leftOut.push({
        run_id,
        reason: 'it is a stateless run, whose result is not kept here',
        isFault: false,
      });
      continue;
    }
    const others = found.ofThread.get(thread_id) ?? [];
    others.push(part);
    found.ofThread.set(thread_id, others);
  }
  return found;
};

/** Returns the problem when the run cannot be read or stored: then only this run is left out. */
const readRun = async (
  path: string,
  handle: FileHandle,
  part: FilePart,
): Promise<{ thread_id?: unknown } | Problem> => {
  try {
    const run = await readPart(path, handle, part);
    assertRun(run);
    return run as { thread_id?: unknown };
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid') return error;
    throw error;
  }
};
