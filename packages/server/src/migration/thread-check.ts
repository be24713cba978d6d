// Reads a thread as an import does, and stores nothing.
import { open } from 'node:fs/promises';
import type { ImportThreadAnswer, ImportThreadCommand } from '../engine/dispatch/protocol.ts';
import { CheckpointFiles } from '../engine/thread-import/checkpoint-files.ts';
import { changedFile, readParts, versionOf } from '../engine/thread-import/file-part.ts';
import { toRun, unfinishedOf, emptyAnswer } from '../engine/thread-import/imported-run.ts';

/** Throws `invalid` with file and place when an entry is damaged. */
export const checkThread = async ({ states, runs }: ImportThreadCommand): Promise<ImportThreadAnswer> => {
  const answer = emptyAnswer('imported');
  if (states.checkpoints.length > 0) {
    await using handle = await open(states.path, 'r');
    const files = new CheckpointFiles(states, handle);
    for (const ns of files.namespaces)
      for (const id of files.ids(ns)) if (await files.find(ns, id)) answer.checkpoints += 1;
    if ((await versionOf(handle)) !== states.version) throw changedFile(states.path);
  }
  await readParts(runs, (run) => {
    if (toRun(run)) answer.runs += 1;
    else answer.unfinished.push(unfinishedOf(run));
  });
  return answer;
};
