// Reads a thread as an import does, and stores nothing.
import { open } from 'node:fs/promises';
import type { ImportThreadAnswer, ImportThreadCommand } from '../engine/dispatch/protocol.ts';
import { CheckpointFiles } from '../engine/thread-import/checkpoint-files.ts';
import { changedFile, readPart, versionOf } from '../engine/thread-import/file-part.ts';
import { toRun, unfinishedOf } from '../engine/thread-import/imported-run.ts';

/** Throws `invalid` with file and place when an entry is damaged. */
export const checkThread = async ({ states, runs }: ImportThreadCommand): Promise<ImportThreadAnswer> => {
  const answer: ImportThreadAnswer = {
    outcome: 'imported',
    checkpoints: 0,
    runs: 0,
    unfinished: [],
    undescribed: { count: 0, message: '' },
  };
  if (states.checkpoints.length > 0) {
    await using handle = await open(states.path, 'r');
    const files = new CheckpointFiles(states, handle);
    for (const ns of files.namespaces)
      for (const id of files.ids(ns)) if (await files.find(ns, id)) answer.checkpoints += 1;
    if ((await versionOf(handle)) !== states.version) throw changedFile(states.path);
  }
  await using handle = await open(runs.path, 'r');
  for (const part of runs.parts) {
    const run = await readPart(runs.path, handle, part);
    if (toRun(run)) answer.runs += 1;
    else answer.unfinished.push(unfinishedOf(run));
  }
  if (runs.parts.length > 0 && (await versionOf(handle)) !== runs.version) throw changedFile(runs.path);
  return answer;
};
