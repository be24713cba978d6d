// Finds the runs of each thread. The file has them by run id, so each is read once.
import type { FileHandle } from 'node:fs/promises';
import { type FilePart, readPart } from '../engine/thread-import/file-part.ts';
import type { DevServerFolder } from './dev-server-folder.ts';

export interface FoundRuns {
  /** By thread id, in the order of creation. */
  ofThread: Map<string, FilePart[]>;
  leftOut: { run_id: string; reason: string }[];
}

export const findRuns = async (
  { path, runs, threads }: DevServerFolder['ops'],
  handle: FileHandle,
  signal: AbortSignal,
): Promise<FoundRuns> => {
  const found: FoundRuns = { ofThread: new Map(), leftOut: [] };
  for (const [run_id, part] of runs) {
    signal.throwIfAborted();
    const run = (await readPart(path, handle, part)) as { thread_id?: unknown; status?: unknown } | null;
    const thread_id = String(run?.thread_id);
    if (!threads.has(thread_id)) {
      found.leftOut.push({
        run_id,
        reason: 'it has no thread: a run without a thread, whose result is not kept here',
      });
      continue;
    }
    const others = found.ofThread.get(thread_id) ?? [];
    others.push(part);
    found.ofThread.set(thread_id, others);
  }
  return found;
};
